"""The instruction set of a host."""

from __future__ import annotations

import pytest

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.kernels.isa import isa_for

LINUX = "x86_64-unknown-linux-gnu"
HASWELL = {"avx2": True, "fma": True, "f16c": True, "bmi2": True}
SKYLAKE_SERVER = {**HASWELL, "avx512f": True, "avx512dq": True, "avx512bw": True, "avx512vl": True}


def test_a_host_with_avx512_gets_sixteen_lanes() -> None:
    isa = isa_for("skylake-avx512", SKYLAKE_SERVER, LINUX)
    assert (isa.name, isa.lanes, isa.avx512_bf16) == ("avx512", 16, False)


def test_a_host_with_bf16_instructions_is_detected() -> None:
    isa = isa_for("znver4", {**SKYLAKE_SERVER, "avx512bf16": True}, LINUX)
    assert (isa.name, isa.avx512_bf16) == ("avx512-bf16", True)


def test_a_host_with_byte_permutations_is_detected() -> None:
    assert isa_for("icelake-server", {**SKYLAKE_SERVER, "avx512vbmi": True}, LINUX).avx512_vbmi
    assert not isa_for("skylake-avx512", SKYLAKE_SERVER, LINUX).avx512_vbmi


def test_a_host_with_avx2_and_fma_gets_eight_lanes() -> None:
    isa = isa_for("haswell", {**HASWELL, "avx512f": False}, LINUX)
    assert (isa.name, isa.lanes, isa.features) == ("avx2", 8, "+avx2,-avx512f,+bmi2,+f16c,+fma")


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "arm64-apple-darwin23"])
def test_an_arm_host_gets_four_lanes(triple: str) -> None:
    isa = isa_for("neoverse-n1", {"neon": True}, triple)
    assert (isa.name, isa.lanes, isa.triple) == ("neon", 4, triple)


@pytest.mark.parametrize(
    ("features", "triple"),
    [({"avx": True, "fma": False}, LINUX), ({"avx2": True, "fma": False}, LINUX), ({}, "riscv64-unknown-linux-gnu")],
)
def test_an_older_host_is_named_with_the_backend_for_it(features: dict[str, bool], triple: str) -> None:
    with pytest.raises(ArgumentError, match="backend='numba' compiles for any host"):
        isa_for("some-cpu", features, triple)
