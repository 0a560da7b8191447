"""CasADi's C interface as a target."""
