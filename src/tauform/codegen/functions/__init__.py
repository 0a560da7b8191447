"""The functions that programs are generated for, by name."""

from tauform.codegen.functions.factors import FACTORS
from tauform.codegen.functions.forward_derivatives import FORWARD_DERIVATIVES
from tauform.codegen.functions.function import Algorithm, Function
from tauform.codegen.functions.inertia import INERTIA
from tauform.codegen.functions.inverse_derivatives import INVERSE_DERIVATIVES
from tauform.codegen.functions.matrices import MATRICES
from tauform.codegen.functions.torques import TORQUES

# Gradients stand last: the order of functions in written folders stays.
_DERIVATIVES = sorted((*INVERSE_DERIVATIVES, *FORWARD_DERIVATIVES), key=lambda f: f.name.endswith("_transposed"))
_ALL = (*TORQUES, *INERTIA, *FACTORS, *MATRICES, *_DERIVATIVES)
FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}

__all__ = ["FUNCTIONS", "Algorithm", "Function"]
