"""CUDA as a target."""
