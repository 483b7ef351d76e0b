"""Quick edits have the result of xDSL's edits."""

import gc
import weakref

import pytest
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block, Region

from ttnn_jit.dialects.writing.creation import create
from ttnn_jit.dialects.writing.editing import (
    append,
    detach,
    detach_all,
    discard_module,
    erase,
    insert_before,
    ops_of,
    replace_uses,
)


def constants(count):
    return [create(arith.ConstantOp, result_types=[f32]) for _ in range(count)]


def links(ops):
    return [(op.parent, op.prev_op, op.next_op) for op in ops]


def uses_of(value):
    """The uses of a value, latest first; the links in both directions agree."""
    forward = list(value.uses)
    assert [use._prev_use for use in forward] == [None, *forward[:-1]][: len(forward)]
    return [(use.operation, use.index) for use in forward]


@pytest.mark.parametrize("there", [0, 1, 2])
@pytest.mark.parametrize("more", [0, 1, 3])
def test_appending_links_ops_as_adding_one_by_one_does(there, more):
    ops, block = constants(there + more), Block()
    append(block, ops[:there])
    append(block, ops[there:])
    assert (block.first_op, block.last_op) == ((ops[0], ops[-1]) if ops else (None, None))
    slow = Block()
    appended = links(ops)
    for op in detach_all(block):
        slow.add_op(op)
    assert appended == [(block, before, after) for _, before, after in links(ops)]


def test_ops_that_were_taken_out_have_no_parent():
    ops, block = constants(3), Block()
    append(block, ops)
    assert detach_all(block) == ops
    assert links(ops) == [(None, None, None)] * 3
    assert (block.first_op, block.last_op) == (None, None)


def test_an_op_is_appended_to_one_block_only():
    (op,) = constants(1)
    append(Block(), [op])
    with pytest.raises(AssertionError, match="one block"):
        append(Block(), [op])


def standing(block, ops):
    """The order of `ops` in `block`, by number."""
    known = {None: None, block: "block"} | {op: number for number, op in enumerate(ops)}
    return [[known[part] for part in each] for each in [*links(ops), (block.first_op, block.last_op)]]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_ops_of_a_block_are_those_that_iteration_finds(count):
    block = Block(made := constants(count))
    assert ops_of(block) == list(block.ops) == made


@pytest.mark.parametrize("index", [0, 1, 2])
def test_inserting_links_the_neighbours_as_xdsl_does(index):
    quick, slow = Block(ours := constants(3)), Block(theirs := constants(3))
    (new,), (other,) = constants(1), constants(1)
    insert_before(new, ours[index])
    slow.insert_op_before(other, theirs[index])
    assert standing(quick, [*ours, new]) == standing(slow, [*theirs, other])


@pytest.mark.parametrize("index", [0, 1, 2])
def test_detaching_links_the_neighbours_as_xdsl_does(index):
    quick, slow = Block(ours := constants(3)), Block(theirs := constants(3))
    detach(ours[index])
    slow.detach_op(theirs[index])
    assert standing(quick, ours) == standing(slow, theirs)


def test_an_op_without_a_parent_may_be_detached():
    (op,) = constants(1)
    detach(op)
    assert links([op]) == [(None, None, None)]


def nested():
    """A value, an op with a region that reads it, and a later op that reads it too."""
    (outer,) = constants(1)
    inner = test.TestOp(operands=[outer.result, outer.result], result_types=[f32])
    around = test.TestOp(operands=[outer.result], regions=[Region(Block([inner], arg_types=[f32]))])
    after = test.TestOp(operands=[outer.result])
    ModuleOp([outer, around, after])
    return outer, around, after


def test_an_erased_op_and_its_nested_ops_have_no_operands():
    outer, around, after = nested()
    erase(around)
    assert uses_of(outer.result) == [(after, 0)]
    assert list(outer.parent.ops) == [outer, after]
    assert links([around]) == [(None, None, None)]


def test_an_erased_op_is_freed_without_a_collection():
    """Ops, results, uses, blocks and regions refer to each other in circles."""
    outer, around, after = nested()
    (region,) = around.regions
    (inner,) = region.block.ops
    parts = [around, region, region.block, inner, *around._operand_uses, *region.block.args, *inner.results]
    known = [weakref.ref(part) for part in parts]
    gc.disable()
    try:
        erase(around)
        del around, region, inner, parts
        assert [part() for part in known] == [None] * len(known)
        assert uses_of(outer.result) == [(after, 0)]
    finally:
        gc.enable()


def test_a_discarded_module_is_freed_without_a_collection():
    outer, around, after = nested()
    module, (region,) = outer.parent.parent.parent, around.regions
    (inner,) = region.block.ops
    ops = [outer, around, after, inner]
    uses = [use for op in ops for use in op._operand_uses]
    parts = [module, *ops, *uses, region, region.block, *region.block.args, *inner.results]
    known = [weakref.ref(part) for part in parts]
    gc.disable()
    try:
        discard_module(module)
        del module, outer, around, after, region, inner, ops, uses, parts
        assert [part() for part in known] == [None] * len(known)
    finally:
        gc.enable()


def test_an_op_with_users_is_not_erased():
    outer, _, _ = nested()
    with pytest.raises(AssertionError, match="without users"):
        erase(outer)


@pytest.mark.parametrize("hint", [None, "mine"])
@pytest.mark.parametrize("old_hint", [None, "old"])
def test_replacing_uses_leaves_what_xdsl_leaves(hint, old_hint):
    def replaced(replace):
        old, new = constants(2)
        user = test.TestOp(operands=[old.result, new.result, old.result])
        other = test.TestOp(operands=[old.result])
        old.result.name_hint, new.result.name_hint = old_hint, hint
        replace(old.result, new.result)
        names = {old.result: "old", new.result: "new", user: "user", other: "other"}
        return (
            [[names[value] for value in op.operands] for op in (user, other)],
            [[(names[op], index) for op, index in uses_of(value)] for value in (old.result, new.result)],
            new.result.name_hint,
        )

    assert replaced(replace_uses) == replaced(lambda old, new: old.replace_all_uses_with(new))
