"""Random trees of every operation on every kind of number: each step within its bound, the fused whole bit for bit.

A step is compared with its golden in float64 on the very values that reach it, so that the bounds of a tree are those
of its steps; in float32 on the cpu target fusing changes no bit, so that they are those of the fused kernel too.
"""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ttnn_jit
from benchmarks.accuracy.measure import FLOAT32, bound_of, ulp_errors
from benchmarks.accuracy.references import error_in_ulp, to_many_digits
from tests.properties.test_programs import assert_same_bits
from ttnn_jit import ttnn
from ttnn_jit.ops import OPERATIONS
from ttnn_jit.target import Numerics

SHAPE = (32, 64)
ARGUMENTS = 3
SPECIALS = [
    0.0,
    -0.0,
    torch.inf,
    -torch.inf,
    torch.nan,
    1e-45,
    -1e-40,
    1.2e-38,
    3.4e38,
    -3.4e38,
    1.0,
    -1.0,
    0.5,
    2.0**24,
]
NUMBERS = [0.5, -1.0, 3, 1e30, -0.0, 2.0**-130]


def arguments(seed: int) -> list[torch.Tensor]:
    """A third ordinary numbers, a third of any size, a third special."""
    generator = torch.Generator().manual_seed(seed)

    def any_of(*columns: torch.Tensor) -> torch.Tensor:
        choice = torch.randint(0, len(columns), SHAPE, generator=generator)
        return torch.stack(columns).gather(0, choice[None])[0]

    def drawn() -> torch.Tensor:
        bits = torch.randint(-(2**31), 2**31 - 1, SHAPE, generator=generator, dtype=torch.int64)
        special = torch.tensor(SPECIALS)[torch.randint(0, len(SPECIALS), SHAPE, generator=generator)]
        ordinary = 3 * torch.randn(SHAPE, generator=generator)
        return any_of(ordinary, bits.to(torch.int32).view(torch.float32), special)

    return [drawn() for _ in range(ARGUMENTS)]


@st.composite
def steps(draw):
    """(operation, operands) on arguments, earlier results and numbers."""
    drawn = []
    for number in range(draw(st.integers(2, 8))):
        operation = draw(st.sampled_from(OPERATIONS))
        values = st.integers(0, ARGUMENTS + number - 1)
        others = st.one_of(values, st.sampled_from(NUMBERS).map(lambda n: ("number", n)))
        first = draw(st.integers(0, operation.arity - 1))  # that one is a tensor, any other may be a number
        drawn.append((operation, [draw(values if k == first else others) for k in range(operation.arity)]))
    return drawn


def computed(program, tensors):
    """Every value of the program, by ttnn."""
    values = list(tensors)
    for operation, operands in program:
        chosen = [operand[1] if isinstance(operand, tuple) else values[operand] for operand in operands]
        values.append(getattr(ttnn, operation.name)(*chosen, *operation.tested_attributes, **operation.chosen_by))
    return values


@pytest.mark.slow
@given(program=steps(), seed=st.integers(0, 2**16))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_step_is_within_its_bound_and_the_fused_tree_has_the_bits_of_its_steps(program, seed):
    tensors = arguments(seed)
    with ttnn.open_device(device_id=0, target="cpu") as device:
        values = [
            v.to_torch()
            for v in computed(program, [ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=device) for t in tensors])
        ]
    for (operation, operands), got in zip(program, values[ARGUMENTS:], strict=True):
        chosen = [
            torch.full(SHAPE, operand[1]).float().double() if isinstance(operand, tuple) else values[operand].double()
            for operand in operands
        ]
        exact = operation.golden_under(Numerics.IEEE)(torch, *chosen, *operation.tested_attributes).double()
        errors = ulp_errors(got, exact)
        errors[(got.double() - exact).abs() <= operation.probe.max_absolute] = 0
        for place in torch.nonzero(errors.view(-1) > bound_of(operation, FLOAT32)).flatten().tolist():
            # float64 may cancel too: x + x * (-1 - x).
            point = [float(c.reshape(-1)[place]) for c in chosen]
            result, exactly = float(got.view(-1)[place]), to_many_digits(operation, point)
            assert exactly is not None, (operation, point, result)
            assert error_in_ulp(result, exactly, 23) <= bound_of(operation, FLOAT32), (operation, point, result)
    fused = ttnn_jit.jit(enable_cache=False, graph_capture=True)(lambda *xs: computed(program, xs)[-1])(*tensors)
    assert_same_bits(fused, values[-1])
