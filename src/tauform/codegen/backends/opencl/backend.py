"""OpenCL C as a target: kernels over many states, tried on whatever device there is."""

from __future__ import annotations

from tauform.codegen.backends.kernels import Dialect, KernelBackend

# Words of OpenCL C that C allows as names, and what kernels call.
RESERVED = frozenset(
    """
    abs atan2 bool class constant count event_t exp fabs generic get_global_id global half i image kernel local
    namespace new operator pipe private public queue_t read_only read_write sampler_t sign sign_of std tanh template
    this uchar uint ulong uniform ushort using vec_step virtual work_item write_only Real
    """.split()  # noqa: SIM905
)
DIALECT = Dialect(
    suffix="cl",
    head={"double": "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n", "float": ""},
    kernel="__kernel",
    device="static inline",
    memory="__global ",
    count="ulong",
    index="get_global_id(0)",
    reserved=RESERVED,
    stand_ins="""
#define __kernel
#define __global
typedef std::size_t ulong;
static std::size_t get_global_id(unsigned)
{
    return work_item;
}
""",
)


class OpenCL(KernelBackend):
    """The backend."""

    title = "OpenCL"
    dialect = DIALECT
    package = __package__


BACKEND = OpenCL()
