"""Random trees of all operations on all kinds of numbers: each step within its bound, the fused tree bit for bit.

A step is compared with its golden in float64 on the very values that reach it, so that the bounds of a tree are those
of its steps; fusing changes no bit, in float32 on the cpu target and on chip targets, so that they are those of the
fused kernel too.
"""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ttnn_jit
from benchmarks.accuracy.measure import MANTISSA_BITS, as_stored, bound_of, ulp_errors
from benchmarks.accuracy.references import error_in_ulp, in_float64, to_many_digits
from benchmarks.accuracy.sample import TORCH_DTYPE
from tests.properties.calls.test_programs import assert_same_bits
from ttnn_jit import ttnn
from ttnn_jit.ops import operations_on
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType

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
        operation = draw(st.sampled_from(operations_on(FLOATS)))
        values = st.integers(0, ARGUMENTS + number - 1)
        others = st.one_of(values, st.sampled_from(NUMBERS).map(lambda n: ("number", n)))
        first = draw(st.integers(0, operation.arity - 1))  # one operand is a tensor, the others may be numbers
        drawn.append((operation, [draw(values if k == first else others) for k in range(operation.arity)]))
    return drawn


def computed(program, tensors):
    """Every value of the program, computed by ttnn."""
    values = list(tensors)
    for operation, operands in program:
        chosen = [operand[1] if isinstance(operand, tuple) else values[operand] for operand in operands]
        values.append(getattr(ttnn, operation.name)(*chosen, *operation.tested_attributes, **operation.fixed_keywords))
    return values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "dtype"),
    [("cpu", DataType.FLOAT32), ("wormhole_b0", DataType.FLOAT32), ("wormhole_b0", DataType.BFLOAT16)],
    ids=["cpu-f32", "chip-f32", "chip-bf16"],
)
@given(program=steps(), seed=st.integers(0, 2**16))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_step_is_within_its_bound_and_the_fused_tree_has_the_bits_of_its_steps(target, dtype, program, seed):
    with ttnn.open_device(device_id=0, target=target) as device:
        tensors = [
            ttnn.from_torch(t.to(TORCH_DTYPE[dtype]), layout=ttnn.TILE_LAYOUT, device=device) for t in arguments(seed)
        ]
        values = [v.to_torch() for v in computed(program, tensors)]
        jitted = ttnn_jit.jit(enable_cache=False, graph_capture=True)(lambda *xs: computed(program, xs)[-1])
        assert_same_bits(jitted(*tensors).to_torch(), values[-1])
    for (operation, operands), got in zip(program, values[ARGUMENTS:], strict=True):
        chosen = [
            torch.full(SHAPE, operand[1]).to(got.dtype) if isinstance(operand, tuple) else values[operand]
            for operand in operands
        ]
        assert_within_its_bound(operation, target, dtype, chosen, got)


def assert_within_its_bound(operation, target, dtype, operands, got):
    exact = in_float64(operation, operation.golden, operands)
    errors = ulp_errors(got, exact)
    if target != "cpu" and dtype is DataType.BFLOAT16:
        errors[as_stored(got, exact)] = 0
    errors[(got.double() - exact).abs() <= operation.probe.max_absolute] = 0
    bound = bound_of(operation, dtype)
    for index in torch.nonzero(errors.view(-1) > bound).flatten().tolist():
        # float64 may cancel too: x + x * (-1 - x).
        point, result = [float(o.reshape(-1)[index]) for o in operands], float(got.view(-1)[index])
        exactly = to_many_digits(operation, point)
        assert exactly is not None, (operation, point, result)
        assert error_in_ulp(result, exactly, MANTISSA_BITS[got.dtype]) <= bound, (operation, point, result)
