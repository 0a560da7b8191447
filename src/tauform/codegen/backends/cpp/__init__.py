"""C++17 as a target."""
