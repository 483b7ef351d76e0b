"""Quickly created ops equal the ops that xDSL creates."""

import pytest
from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import UnitAttr, f32, i32
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import OptionalDef

from ttnn_jit.dialects import context
from ttnn_jit.dialects.writing.creation import QuickOperation, create, empty_block, region_of

XDSL_CLASSES = [
    LinalgGenericOp,
    LinalgYieldOp,
    affine.ForOp,
    affine.YieldOp,
    arith.ConstantOp,
    memref.SubviewOp,
    scf.ForOp,
    scf.YieldOp,
]
OWN_CLASSES = [op for op in context().loaded_ops if issubclass(op, QuickOperation)]


def made_by(make, cls):
    block = Block(arg_types=[f32, f32])
    return make(
        cls,
        operands=[*block.args, block.args[0]],
        result_types=[f32, f32],
        properties={"p": UnitAttr()},
        attributes={"a": UnitAttr()},
        regions=[Region(Block())],
    )


def xdsl_create(cls, **fields):
    return Operation.create.__func__(cls, **fields)


def state_of(op):
    uses = [sorted((use.operation is op, use.index) for use in value.uses) for value in op.operands]
    return (
        [value.type for value in op.operands],
        uses,
        [(result.type, result.index, result.op is op) for result in op.results],
        (op.properties, op.attributes, op.location, list(op.successors), op.parent, op.next_op, op.prev_op),
        [region.parent is op for region in op.regions],
    )


@pytest.mark.parametrize("cls", [*XDSL_CLASSES, *OWN_CLASSES[:3], *OWN_CLASSES[-3:]])
def test_a_quickly_created_op_has_every_attribute_of_an_ordinary_one(cls):
    assert state_of(made_by(create, cls)) == state_of(made_by(xdsl_create, cls))


def test_every_op_of_these_dialects_is_created_quickly():
    own = {op for op in context().loaded_ops if op.__module__.startswith("ttnn_jit")}
    assert own == set(OWN_CLASSES)


def test_no_such_op_has_a_default_that_quick_creation_would_omit():
    found = []
    for cls in (*XDSL_CLASSES, *OWN_CLASSES):
        definition = getattr(cls, "get_irdl_definition", lambda: None)()
        fields = {**definition.properties, **definition.attributes} if definition else {}
        left_out = (
            name for name, field in fields.items() if not isinstance(field, OptionalDef) and field.default_value
        )
        found += [(cls.__name__, name) for name in left_out]
    assert found == []


def state(thing):
    """The whole state of an op, a block or a region, with the defaults of its class."""
    names = {name for cls in type(thing).__mro__ for name in getattr(cls, "__annotations__", ())} - {"name", "traits"}
    return {name: getattr(thing, name) for name in names}


def test_a_quickly_created_block_has_every_attribute_of_an_ordinary_one():
    quick, slow = empty_block([f32, i32]), Block(arg_types=[f32, i32])
    assert state(quick) == state(slow) | {"_args": quick.args}
    for ours, theirs in zip(quick.args, slow.args, strict=True):
        assert state(ours) == state(theirs) | {"block": quick}
    assert state(empty_block()) == state(Block())


def test_a_quickly_created_region_has_every_attribute_of_an_ordinary_one():
    block = Block()
    quick = region_of(block)
    assert block.parent is quick
    assert state(quick) == state(Region(Block())) | {"_first_block": block, "_last_block": block}
