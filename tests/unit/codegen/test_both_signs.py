"""exp(x) and exp(-x) of one kernel are computed together: less work, the same bits."""

import numpy as np
import pytest

from tests.unit.codegen.programs import kernel_of, scheduled
from tests.unit.codegen.test_llvm_kernel import hot_loop
from ttnn_jit.codegen.bodies.body_analysis import both_signs
from ttnn_jit.codegen.images.assemble import assembly
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.kernels.isa import AVX512
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import ELEMENTWISE
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

F32, BF16 = DataType.FLOAT32, DataType.BFLOAT16
WITH_BOTH_SIGNS = [operation for operation in ELEMENTWISE if operation.implementations.both_signs is not None]
COSH = [("neg", 0), ("exp", 0), ("exp", 1), ("add", 2, 3)]


def body_of(calls, dtype=F32, target="cpu", arguments=1):
    (body,) = read_kernels(scheduled([TensorSpec((32, 32), dtype, Layout.TILE)] * arguments, calls, target=target))
    return body


@pytest.mark.parametrize(("target", "dtype"), [("cpu", F32), ("cpu", BF16), ("wormhole_b0", F32)])
def test_exp_of_a_value_and_of_its_negation_are_one_pair(target, dtype):
    body = body_of(COSH, dtype, target)
    assert len(both_signs(body)) == 2
    (pair,) = set(both_signs(body).values())
    assert [body.steps[k].tile_name for k in (pair.plain, pair.negated)] == ["tile_exp", "tile_exp"]


def test_where_every_op_is_rounded_to_bfloat16_each_has_its_short_body():
    assert not both_signs(body_of(COSH, BF16, "wormhole_b0"))


@pytest.mark.parametrize(
    "calls",
    [
        [("exp", 0), ("exp", 1), ("add", 2, 3)],
        [("neg", 0), ("exp", 2), ("exp", 1), ("add", 3, 4)],
        [("neg", 0), ("exp", 2), ("sin", 0), ("add", 3, 4)],
        [("abs", 0), ("exp", 2), ("exp", 0), ("add", 3, 4)],
    ],
)
def test_other_arguments_form_no_pair(calls):
    assert not both_signs(body_of(calls, arguments=2))


@pytest.mark.parametrize("operation", WITH_BOTH_SIGNS, ids=lambda operation: operation.name)
def test_a_pair_has_the_bits_of_two_separate_computations(operation):
    patterns = np.arange(0, 2**32, 4093, dtype=np.uint64).astype(np.uint32)
    x = np.concatenate([patterns.view(np.float32), np.linspace(-110, 110, 500_001, dtype=np.float32)])
    b = NumpyVector()
    with b.quiet():
        both = operation.implementations.both_signs(b, x)
        one_by_one = operation.emit(b, x), operation.emit(b, -x)
    np.testing.assert_array_equal(both, one_by_one)


def test_a_pair_needs_far_less_arithmetic_than_two():
    def arithmetic(calls):
        loop = hot_loop(assembly(kernel_of(body_of(calls), AVX512).modules.whole, AVX512))
        return len([line for line in loop if line.startswith(("vf", "vm"))])

    once = arithmetic([("exp", 0)])
    assert arithmetic(COSH) < 1.6 * once
