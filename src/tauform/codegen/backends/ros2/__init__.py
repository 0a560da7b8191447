"""ROS 2 as a target."""
