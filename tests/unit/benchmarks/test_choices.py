"""The benchmark of codegen's choices disables the choice that it names."""

from dataclasses import replace

import pytest

from benchmarks.kernels.choices import CHOICES, scheduled, turned_off
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.kernels.isa import AVX512

ISA = replace(AVX512, avx512_bf16=True, avx512_vbmi=True)


def kernels_of(case):
    return list(generate(scheduled(case), ISA).kernels)


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_that_is_disabled_changes_a_kernel_of_one_of_its_programs(name, monkeypatch):
    monkeypatch.setattr("ttnn_jit.codegen.schedules.bound_kernel.last_cache_bytes", lambda: 32 << 20)
    choice = CHOICES[name]
    ours = list(map(kernels_of, choice.cases))
    with turned_off(choice):
        others = list(map(kernels_of, choice.cases))
    assert ours != others
    assert list(map(kernels_of, choice.cases)) == ours
