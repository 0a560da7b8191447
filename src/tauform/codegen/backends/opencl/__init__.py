"""OpenCL as a target."""
