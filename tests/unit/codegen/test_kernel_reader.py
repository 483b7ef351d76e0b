"""The reader of scheduled modules: its result, the effect of edits, and its refusals."""

import re

import numpy as np
import pytest

from tests.unit.codegen.programs import assert_same_bits, bfloat16, native, scheduled
from ttnn_jit.codegen.bodies.steps import Apply, Cast, Constant, Load, Store
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

BF16, F32 = DataType.BFLOAT16, DataType.FLOAT32
TILE = TensorSpec((64, 128), BF16, Layout.TILE)
SUB_EXP = [("subtract", 0, 1), ("exp", 2)]
CHAIN = [("abs", 0), ("sin", 1), ("neg", 2), ("exp", 3)]
TREE = [("add", 0, 1), ("add", 2, 3), ("add", 4, 5), ("add", 6, 7), ("add", 8, 9), ("add", 10, 11), ("add", 12, 13)]


def text_of(specs, calls, target="wormhole_b0"):
    return print_module(scheduled(specs, calls, target=target))


def only_kernel(module):
    (body,) = read_kernels(module)
    return body


def two_inputs():
    rng = np.random.default_rng(1)
    return [bfloat16(rng.standard_normal((64, 128))) for _ in range(2)]


def test_a_unary_chain_of_one_nest_per_op_becomes_one_list_of_steps():
    spec = TensorSpec((128, 128), BF16, Layout.TILE)
    body = only_kernel(scheduled([spec], CHAIN, target="wormhole_b0", results=(-1,)))
    assert [type(step) for step in body.steps] == [Load, Apply, Apply, Apply, Apply, Store]
    assert [step.tile_name for step in body.steps[1:5]] == ["tile_abs", "tile_sin", "tile_neg", "tile_exp"]
    assert [step.slot for step in body.steps[:5]] == [0] * 5
    assert body.numerics is Numerics.DEVICE


def test_the_slots_of_the_8_to_1_tree_are_those_of_the_document():
    body = only_kernel(scheduled([TILE] * 8, TREE, target="wormhole_b0"))
    listing = (((0, 1), 2), ((0, 1), 3), ((2, 3), 0), ((2, 3), 1), ((2, 3), 4), ((1, 4), 2), ((0, 2), 1))
    assert body.slots == listing


def test_an_argument_used_twice_is_one_stream():
    body = only_kernel(scheduled([TILE], [("exp", 0), ("neg", 0), ("add", 1, 2)], target="wormhole_b0"))
    assert len(body.streams) == 2
    assert [step.stream for step in body.steps if isinstance(step, Load)] == [0, 0]


def test_constants_keep_their_bits():
    body = only_kernel(scheduled([TILE], [("multiply", 0, -0.0)], target="wormhole_b0"))
    (multiply,) = (step for step in body.steps if isinstance(step, Apply))
    assert multiply.operands[1] == Constant(0x8000_0000)
    assert Constant.of(1e300) == Constant.of(float("inf"))


def test_ieee_numerics_cast_once_on_the_way_in_and_once_on_the_way_out():
    body = only_kernel(scheduled([TILE], [("exp", 0), ("neg", 1)]))
    casts = [step.dtype for step in body.steps if isinstance(step, Cast)]
    assert casts == [F32, BF16]
    assert {step.dtype for step in body.steps if isinstance(step, Apply)} == {F32}


def test_the_inner_stride_decides_the_access():
    whole, row, column = (TensorSpec(shape, F32) for shape in ((5, 7), (1, 7), (5, 1)))
    transposed = TensorSpec((5, 7), F32, strides=(1, 5))
    body = only_kernel(scheduled([whole, row, column, transposed], [("add", 0, 1), ("add", 4, 2), ("add", 5, 3)]))
    by_name = {stream.access for stream in body.streams}
    assert by_name == {InnerAccess.CONTIGUOUS, InnerAccess.SCALAR, InnerAccess.STRIDED}
    assert body.rank == 1


def test_editing_an_op_of_a_dump_changes_the_result():
    text = text_of([TILE, TILE], SUB_EXP)
    inputs = two_inputs()
    edited = parse_module(text.replace("d2m.tile_exp", "d2m.tile_neg"))
    (got,) = native(edited, inputs)
    (neg,) = native(scheduled([TILE, TILE], [("subtract", 0, 1), ("neg", 2)], target="wormhole_b0"), inputs)
    assert_same_bits(got, neg)


def test_editing_a_slot_of_a_dump_changes_the_result():
    text = text_of([TILE, TILE], SUB_EXP)
    lines = text.splitlines()
    # The second operand's tile goes to slot 0 and is read from there: both operands are the same tile.
    changed = [line.replace("%dst[1, ", "%dst[0, ") for line in lines]
    edited = parse_module("\n".join(changed))
    inputs = two_inputs()
    (got,) = native(edited, inputs)
    (expected,) = interpret(edited, inputs)
    assert_same_bits(got, expected)
    (original,) = native(parse_module(text), inputs)
    assert (got != original).any()


def refused(text, old, new, count=-1):
    assert old in text
    with pytest.raises(CompileError) as caught:
        read_kernels(parse_module(text.replace(old, new, count)))
    return str(caught.value)


def test_reading_a_slot_that_was_never_written_is_refused():
    text = text_of([TILE, TILE], SUB_EXP)
    lines = text.splitlines()
    number = next(k for k, line in enumerate(lines) if "affine.load %dst[1," in line)
    lines[number] = lines[number].replace("%dst[1,", "%dst[5,")
    with pytest.raises(CompileError, match="DST slot 5 was never written"):
        read_kernels(parse_module("\n".join(lines)))
    with pytest.raises(CompileError, match="never written"):
        interpret(parse_module("\n".join(lines)), two_inputs())


def test_a_slot_beyond_those_acquired_is_refused():
    text = text_of([TILE, TILE], SUB_EXP)
    assert "there is no DST slot 9: 8 were acquired" in refused(text, "%dst[1, ", "%dst[9, ")


def test_loops_that_do_not_cover_the_shard_are_refused():
    spec = TensorSpec((1024, 1024), BF16, Layout.TILE)
    text = text_of([spec, spec], SUB_EXP)
    assert "step %c1" in text
    assert "do not run over each tile" in refused(text, "to %c4 step %c1", "to %c2 step %c1")


def test_nests_over_different_tiles_are_refused():
    spec = TensorSpec((1024, 1024), BF16, Layout.TILE)
    text = text_of([spec], CHAIN)
    assert "%arg3, %arg4] : memref<1x2x4" in text
    wrong = "%dst[0, 0, %arg4] : memref<1x2x4"
    message = refused(text, "%dst[0, %arg3, %arg4] : memref<1x2x4", wrong, 1)
    assert "cannot be merged" in message


def test_an_output_left_unwritten_is_refused():
    text = text_of([TILE], [("exp", 0)])
    lines = text.splitlines()
    store = next(k for k in reversed(range(len(lines))) if "affine.store" in lines[k])
    del lines[store]
    with pytest.raises(CompileError, match="leaves an output unwritten"):
        read_kernels(parse_module("\n".join(lines)))


def test_a_missing_broadcast_is_refused():
    whole, row = TensorSpec((40, 33), F32), TensorSpec((1, 33), F32)
    text = text_of([whole, row], [("add", 0, 1)], target="cpu")
    lines = text.splitlines()
    spread = next(k for k, line in enumerate(lines) if "d2m.tile_bcast" in line)
    lines[spread] = re.sub(r" <\{.*?\}>", "", lines[spread]).replace("tile_bcast", "tile_neg")
    with pytest.raises(CompileError, match=r"must pass `d2m\.tile_bcast` row first"):
        read_kernels(parse_module("\n".join(lines)))


def test_a_broadcast_of_another_kind_is_refused():
    whole, row = TensorSpec((40, 33), F32), TensorSpec((1, 33), F32)
    text = text_of([whole, row], [("add", 0, 1)], target="cpu")
    assert "spreads a col where the shapes need one of kind row" in refused(text, "type row>", "type col>")


def test_an_unscheduled_generic_is_refused_with_the_stage_to_run():
    from tests.unit.codegen.programs import built, lowered

    module = lowered(built([TILE], [("exp", 0)], target="wormhole_b0"), "d2m-generic-fusion")
    with pytest.raises(CompileError, match=r"run the stages up to `d2m-insert-dst-register-access`"):
        read_kernels(module)


def test_live_tiles_count_what_later_steps_need():
    assert only_kernel(scheduled([TILE], CHAIN, target="wormhole_b0")).live_tiles == 1
    assert only_kernel(scheduled([TILE] * 8, TREE, target="wormhole_b0")).live_tiles == 4
