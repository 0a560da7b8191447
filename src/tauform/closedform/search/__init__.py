"""The search of Lloyd2021: sets of functions, and closed forms of any torque function by sampling."""
