"""MATLAB and Octave as a target."""
