"""CUDA C++ as a target: the kernels of OpenCL in its words, compiled by NVRTC where that is installed."""

from __future__ import annotations

from tauform.codegen.backends.kernels import Dialect, KernelBackend

# Words of C++ and CUDA that C allows as names, and what kernels call.
RESERVED = frozenset(
    """
    abs and and_eq asm atan2 bitand bitor blockDim blockIdx catch char8_t char16_t char32_t class co_await co_return
    co_yield compl concept const_cast consteval constinit count decltype delete dynamic_cast exp explicit export fabs
    friend gridDim i Item mutable namespace new noexcept not not_eq operator or or_eq private protected public Real
    reinterpret_cast requires sign_of static_cast std tanh template this threadIdx throw try typeid typename using
    virtual warpSize wchar_t work_item xor xor_eq
    """.split()  # noqa: SIM905
)
DIALECT = Dialect(
    suffix="cu",
    head={"double": "", "float": ""},
    kernel='extern "C" __global__',
    device="static __device__ inline",
    memory="",
    count="size_t",
    index="(size_t)blockIdx.x*blockDim.x + threadIdx.x",
    reserved=RESERVED,
    stand_ins="""
#define __global__
#define __device__
using std::size_t;
struct Item
{
    std::size_t x;
};
static const Item blockDim{1}, threadIdx{0};
#define blockIdx (Item{work_item})
""",
)


class Cuda(KernelBackend):
    """The backend."""

    title = "CUDA"
    dialect = DIALECT
    package = __package__

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The kernels as a library of this processor, and as NVRTC compiles them."""
        return (*super().build_products(prefix), f"{prefix}.ptx")


BACKEND = Cuda()
