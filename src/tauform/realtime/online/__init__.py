"""Functions that learn while the robot moves: one step each, with a state that the caller holds."""
