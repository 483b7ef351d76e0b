"""The instruction sets that kernels are generated for.

Vector math needs fused multiply-add: without it `llvm.fma` becomes scalar calls of libm. Hosts without it are served
by numba.
"""

from __future__ import annotations

from collections.abc import Mapping

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class HostIsa:
    """The properties of a host that code generation and the assembler depend on.

    Attributes:
        name: Part of every cache key of native code, and of messages.
        cpu: LLVM's name of the CPU model to generate for.
        features: LLVM's feature string, ``+avx2,-sse4a``.
        lanes: Float32 lanes of a vector.
        avx512: Whether it has AVX-512 F, DQ, BW and VL.
        avx512_bf16: Whether it has ``vcvtneps2bf16``.
        avx512_vbmi: Whether it has the byte permutations of AVX-512 VBMI.
        avx2: Whether it has the 256-bit permutations of AVX2.
        neon: Whether it has the Advanced SIMD instructions of aarch64.
        triple: LLVM's target triple; empty for the triple of this process.
    """

    name: str
    cpu: str
    features: str
    lanes: int
    avx512: bool = False
    avx512_bf16: bool = False
    avx512_vbmi: bool = False
    avx2: bool = False
    neon: bool = False
    triple: str = ""

    @property
    def registers(self) -> int:
        """The number of vector registers."""
        return 32 if self.avx512 or self.neon else 16


AVX512 = HostIsa("avx512", cpu="x86-64-v4", features="", lanes=16, avx512=True, avx2=True)
AVX2 = HostIsa("avx2", cpu="x86-64-v3", features="", lanes=8, avx2=True)
NEON = HostIsa("neon", cpu="generic", features="+neon", lanes=4, neon=True, triple="aarch64-unknown-linux-gnu")

_AVX512_FEATURES = ("avx512f", "avx512dq", "avx512bw", "avx512vl", "fma")
_AVX2_FEATURES = ("avx2", "fma", "f16c", "bmi2")


def isa_for(cpu_name: str, features: Mapping[str, bool], triple: str) -> HostIsa:
    """The best instruction set of a host.

    Args:
        cpu_name: LLVM's name of the host CPU, as ``llvmlite.binding.get_host_cpu_name`` gives it.
        features: LLVM feature names and whether the host has them.
        triple: LLVM's triple of this process.

    Raises:
        ArgumentError: The host has no vector unit with fused multiply-add that kernels are generated for.
    """
    architecture = triple.split("-", maxsplit=1)[0]
    text = ",".join(f"{'+' if present else '-'}{name}" for name, present in sorted(features.items()))
    if architecture in {"aarch64", "arm64"}:
        return HostIsa("neon", cpu_name, text, lanes=4, neon=True, triple=triple)
    if architecture in {"x86_64", "amd64"}:
        if all(features.get(name, False) for name in _AVX512_FEATURES):
            more = {f"avx512_{name}": features.get(f"avx512{name}", False) for name in ("bf16", "vbmi")}
            name = "avx512-bf16" if more["avx512_bf16"] else "avx512"
            return HostIsa(name, cpu_name, text, lanes=16, avx512=True, avx2=True, triple=triple, **more)
        if all(features.get(name, False) for name in _AVX2_FEATURES):
            return HostIsa("avx2", cpu_name, text, lanes=8, avx2=True, triple=triple)
    raise ArgumentError(
        f"no kernels are generated for this host ({cpu_name}, {architecture})",
        help="they need AVX2 with FMA, AVX-512 or NEON; backend='numba' compiles for any host",
    )
