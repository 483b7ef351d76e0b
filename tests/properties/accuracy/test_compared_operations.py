"""Comparison mode accepts the results of all operations, and rejects slightly larger errors and NaN."""

from __future__ import annotations

import math
import warnings
from operator import attrgetter

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.golden.judging import judge
from ttnn_jit.golden.verdict import ResultFormat
from ttnn_jit.ops import OPERATIONS
from ttnn_jit.ops.language.parameter import CHOICE
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.target import Numerics
from ttnn_jit.testing import comparison_records
from ttnn_jit.ttnn.functions.gradients import GRADIENTS
from ttnn_jit.ttnn.observing import comparison_mode

INF, NAN = math.inf, math.nan
SPECIAL = (0.0, -0.0, INF, -INF, NAN, 1e-45, -1e-40, 1.2e-38, 3.3e38, -3.3e38)
KINDS = ("random", "ties", "constant", "wide", "special")
DTYPES = (ttnn.bfloat16, ttnn.float32, ttnn.bfloat8_b, ttnn.int32)
TARGETS = ("cpu", "wormhole_b0")
LAXER_ON_BLOCKS = {
    "experimental.rotary_embedding", "experimental.rotary_embedding_hf", "geglu", "glu", "reglu", "swiglu",
}  # fmt: skip
"""Operations between whose parts chips pack block floats, with NaN as infinities."""
KEYS_UNSEEN = "scaled_dot_product_attention"
"""A key that is masked takes part where it is infinite or NaN (docs/numerics.md)."""
GRADIENTS_OF = ("add_bw", "mul_bw", "exp_bw", "relu_bw", "sin_bw", "concat_bw", "softplus_bw", "silu_bw")


ALL = (*OPERATIONS, *(overload for name in GRADIENTS_OF for overload in GRADIENTS[name].__ttnn_overloads__))
JUDGED = [operation for operation in ALL if any(map(operation.accepts, DTYPES))]


def typed(operation, kind):
    """The element type and the target for the numbers of a kind, alternating."""
    index, turn = ALL.index(operation), KINDS.index(kind)
    taken = [dtype for dtype in DTYPES if operation.accepts(dtype)]
    return taken[(index + turn) % len(taken)], TARGETS[(index + turn // 2) % 2]


def is_excepted(operation, dtype, kind):
    if operation not in OPERATIONS and kind not in KINDS[:2]:  # gradients are tested with two kinds of numbers
        return True
    if dtype.is_integer and (kind == "special" or operation.name == "lcm"):  # torch takes its magnitude
        return True
    return (operation.name in LAXER_ON_BLOCKS and dtype.is_block_float) or (
        KEYS_UNSEEN in operation.name and kind == "special"
    )


def numbers(kind, shape, generator):
    random = torch.randn(shape, generator=generator)
    match kind:
        case "ties":
            return torch.randint(-2, 3, shape, generator=generator).float()
        case "constant":
            return 1.0 + random * 1e-3
        case "wide":
            return random * torch.exp(8 * torch.randn(shape, generator=generator))
        case "special":
            flat = random.reshape(-1)
            indices = torch.randperm(flat.numel(), generator=generator)[: len(SPECIAL)]
            flat[indices] = torch.tensor(SPECIAL)[: len(indices)]
            return flat.reshape(shape)
    return random


def operands(operation, shapes, dtype, kind, device):
    generator = torch.Generator().manual_seed(5)
    fixed = getattr(operation, "operand_dtypes", ())
    smallest = min((extent for shape in shapes if shape for extent in shape), default=1)
    for index, (operand, shape) in enumerate(zip(operation.operands * len(shapes), shapes, strict=False)):
        if shape is None:
            continue
        is_index = not dtype.is_integer and index < len(fixed) and not fixed[index] & FLOATS
        if is_index or "ind" in operand.name:
            values, own = torch.randint(0, max(1, smallest), shape, generator=generator, dtype=torch.int32), ttnn.int32
        else:
            values, own = numbers(kind, shape, generator), dtype
            values = (values * 9).nan_to_num(1.0).int() if dtype.is_integer else values
        layout = ttnn.TILE_LAYOUT if len(shape) > 1 or own.is_block_float else ttnn.ROW_MAJOR_LAYOUT
        yield operand.name, ttnn.from_torch(values, dtype=own, layout=layout, device=device)


def run(operation, dtype, kind, target):
    device = ttnn.open_device(device_id=0, target=target)
    default = ((((33, 40),) * max(1, operation.arity), operation.tested_attributes),)
    shapes, statics = (operation.examples or default)[0]
    given = list(operands(operation, shapes, dtype, kind, device))
    keywords = dict(zip((each.name for each in operation.attributes), statics, strict=True))
    keywords |= {each.name: each.default for each in operation.parameters if each.kind is CHOICE}
    called = GRADIENTS.get(operation.name) or attrgetter(operation.name)(ttnn)
    if operation.is_variadic:
        return called([tensor for _, tensor in given], **keywords)
    return called(**dict(given), **keywords)


@pytest.fixture
def verdict_inputs(monkeypatch):
    """The verdict's inputs: tensor, result and golden in torch, and the tolerance."""
    found = []

    def verdict(pair, got, tolerance, elements):
        found.append((*pair, got, tolerance, elements))
        return judged_by(pair, got, tolerance, elements)

    judged_by = comparison_mode._verdict
    monkeypatch.setattr(comparison_mode, "_verdict", verdict)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operation", JUDGED, ids=str)
def test_the_verdict_accepts_results_within_the_bound_and_no_others(operation, kind, verdict_inputs):
    dtype, target = typed(operation, kind)
    if is_excepted(operation, dtype, kind):
        pytest.skip("it is excepted above")
    with warnings.catch_warnings(), ttnn.manage_config("enable_comparison_mode", True):
        warnings.simplefilter("ignore")
        try:
            run(operation, dtype, kind, target)
        except ValueError as refused:  # its examples are of other types or layouts
            pytest.skip(str(refused).splitlines()[0])
    records = comparison_records()
    assert records
    assert [str(record) for record in records if record.matches is False] == []
    for tensor, golden, got, tolerance, elements in verdict_inputs:
        if elements is None and got.numel() and not tolerance.by_rms:
            assert_worse_is_wrong(tensor, golden, got, tolerance)


def assert_worse_is_wrong(tensor, golden, got, tolerance):
    result_format = ResultFormat(
        tensor.dtype, tensor.device() is not None and tensor.device().target.numerics is Numerics.DEVICE
    )
    finite = (got.isfinite() & golden.double().isfinite()).reshape(-1).nonzero()
    erased = tensor.dtype.is_block_float and len(finite) < got.numel()  # results beside an infinity are not compared
    if not len(finite) or erased or (tolerance.noise is not None and not [*tolerance.noise()][-1].isfinite().all()):
        return
    index = int(finite[len(finite) // 2])
    for wrong in worse(float(got.reshape(-1)[index]), got, tensor.dtype, tolerance, index):
        changed = got.clone()
        changed.reshape(-1)[index] = wrong
        if not torch.equal(changed, got):
            assert not judge(changed, golden, result_format, tolerance).matches, (wrong, got.reshape(-1)[index])


def worse(right, got, dtype, tolerance, index):
    """Values that are a few units beyond the bound."""
    if dtype.is_integer:
        return [right + 1 if right < dtype.values[-1] else right - 1]
    noise = 0.0 if tolerance.noise is None else float([*tolerance.noise()][-1].reshape(-1)[index])
    if dtype.is_block_float:
        largest = float(got[got.isfinite()].abs().max())
        beyond = right + 8 * largest + 4 * noise + 1e-30
        return [beyond] if abs(beyond) < dtype.traits.largest else []
    unit = 2.0 ** (max(math.frexp(right)[1] - 1, -126) - dtype.mantissa_bits)
    step = 2 * (2 * tolerance.max_ulp + 2) * unit + 2 * noise + 2 * tolerance.atol + 2.0**-124
    return [
        each
        for each in (right + step, right - step, NAN, INF)
        if abs(each) < dtype.traits.largest or not math.isfinite(each)
    ]
