"""FMI 3.0 as a target."""
