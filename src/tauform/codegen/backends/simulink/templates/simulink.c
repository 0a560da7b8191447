/* Stand-in for what Simulink adds to an S-function: nothing. */
