"""Programs as functions of other libraries: CasADi, JAX, PyTorch and SymPy; each is imported when it is asked for."""
