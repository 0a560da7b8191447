"""The functions that programs are generated for, by name."""

from tauform.codegen.functions.derivatives import DERIVATIVES
from tauform.codegen.functions.factors import FACTORS
from tauform.codegen.functions.function import Algorithm, Function
from tauform.codegen.functions.inertia import INERTIA
from tauform.codegen.functions.matrices import MATRICES
from tauform.codegen.functions.torques import TORQUES

_ALL = (*TORQUES, *INERTIA, *FACTORS, *MATRICES, *DERIVATIVES)
FUNCTIONS: dict[str, Function] = {function.name: function for function in _ALL}

__all__ = ["FUNCTIONS", "Algorithm", "Function"]
