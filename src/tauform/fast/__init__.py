"""Public functions that run compiled code where the work pays for it; results equal those of `tauform.textbook`."""
