"""Direct access to operands, results and regions equals xDSL's own accessors."""

from itertools import product

import pytest
from xdsl.dialects.builtin import DenseArrayBase, f32, i32
from xdsl.ir import Block, Operation, OpResult, Region
from xdsl.irdl import AttrSizedOperandSegments, OptionalDef, VariadicDef
from xdsl.irdl.operations import get_accessors_from_op_def

from ttnn_jit.dialects import context
from ttnn_jit.dialects.writing.creation import create

CLASSES = [
    cls
    for cls in context().loaded_ops
    if hasattr(cls, "get_irdl_definition") and any(isinstance(read, property) for read in vars(cls).values())
]


def counts_of(defined):
    """The possible numbers of values per name."""
    choices = (
        (0, 1) if isinstance(d, OptionalDef) else (0, 1, 3) if isinstance(d, VariadicDef) else (1,) for d in defined
    )
    return product(*choices)


def made(cls, definition, operands, results):
    block = Block(arg_types=[f32] * sum(operands))
    segments = {"operandSegmentSizes": DenseArrayBase.from_list(i32, list(operands))}
    sized = any(isinstance(option, AttrSizedOperandSegments) for option in definition.options)
    return create(
        cls,
        operands=block.args,
        result_types=[f32] * sum(results),
        properties=segments if sized else {},
        regions=[Region(Block()) for _ in definition.regions],
    )


def test_ops_of_ours_and_of_xdsl_are_covered():
    assert {cls.name for cls in CLASSES} >= {"affine.load", "affine.for", "d2m.generic", "memref.subview", "scf.for"}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name)
def test_access_by_name_returns_what_the_accessor_of_xdsl_returns(cls):
    definition = cls.get_irdl_definition()
    accessors = get_accessors_from_op_def(definition, None)
    named = [name for name, _ in (*definition.operands, *definition.results, *definition.regions)]
    for operands in counts_of(each for _, each in definition.operands):
        for results in counts_of(each for _, each in definition.results):
            op = made(cls, definition, operands, results)
            for name in named:
                own, xdsls = getattr(op, name), accessors[name].__get__(op)
                assert (own is xdsls) or (type(own) is type(xdsls) and list(own) == list(xdsls))


def test_results_and_arguments_equal_themselves_alone():
    (first, second) = create(Operation, result_types=[f32, f32]).results
    assert isinstance(first, OpResult)
    assert {first: 1, second: 2}[second] == 2
    assert first != second
