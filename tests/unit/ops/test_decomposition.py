"""Decomposed operations: every adapter of the protocol produces the calls of one declaration."""

from __future__ import annotations

import operator

import pytest
import torch
from xdsl.dialects.builtin import UnknownLoc

from ttnn_jit import ttnn
from ttnn_jit.dialects import ttir
from ttnn_jit.dialects.function_builder import FunctionOps
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.ops import OPERATIONS, OVERLOADS, MacroOperation
from ttnn_jit.ops.elementwise.unary import OPERATIONS as UNARY
from ttnn_jit.ops.families.decomposition import Composite, SpecOps, Value
from ttnn_jit.ops.families.movement import OPERAND
from ttnn_jit.ops.movement.data_movement import CONCAT
from ttnn_jit.runtime.device import implicit_cpu_device
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms.passes.ttir_decompose_composites import DecompositionBuilder
from ttnn_jit.ttnn.calling.eager_ops import EagerOps
from ttnn_jit.ttnn.functions.gradients import GRADIENTS

_GRADIENTS = [each for function in GRADIENTS.values() for each in function.__ttnn_overloads__]
MACROS = [each for each in (*OPERATIONS, *_GRADIENTS) if isinstance(each, MacroOperation)]
X = TensorSpec((3, 40), DataType.BFLOAT16, Layout.TILE)
(EXP,) = (each for each in UNARY if each.name == "exp")


class Listing(SpecOps):
    def __init__(self):
        self.calls = []

    def results(self, operation, operands, *statics):
        self.calls.append((operation.name, [getattr(each, "shape", each) for each in operands]))
        return super().results(operation, operands, *statics)


def a_program():
    builder = ModuleBuilder("f", implicit_cpu_device().target, None)
    return builder, FunctionOps(builder, None)


@pytest.mark.parametrize("macro", MACROS, ids=lambda each: each.ttnn_name)
def test_the_specs_of_calls_are_those_that_a_program_has(macro):
    floats = [each for each in (DataType.FLOAT32, DataType.BFLOAT16, DataType.BFLOAT8_B) if macro.accepts(each)]
    for dtype in floats or [DataType.INT32]:
        for shapes, statics in macro.examples:
            specs = [None if each is None else TensorSpec(each, dtype, Layout.TILE) for each in shapes]
            builder, ops = a_program()
            operands = [None if each is None else ops.value((builder.argument(each), each)) for each in specs]
            made = macro.decomposed(ops, operands, statics)
            assert [each.spec for each in made] == [*macro.results(specs, statics)]
            assert [spec_of(each.handle.type) for each in made] == [each.spec for each in made]
            assert not {each.handle for each in made} & {each.handle for each in operands if each is not None}


OPERATORS = {
    operator.add: ("add", [(3, 40), 2.0]),
    operator.sub: ("subtract", [(3, 40), 2.0]),
    operator.mul: ("multiply", [(3, 40), 2.0]),
    operator.truediv: ("divide", [(3, 40), 2.0]),
    operator.gt: ("gt", [(3, 40), 2.0]),
    operator.ge: ("ge", [(3, 40), 2.0]),
    operator.lt: ("lt", [(3, 40), 2.0]),
    operator.le: ("le", [(3, 40), 2.0]),
}
REFLECTED = {operator.add: "add", operator.sub: "rsub", operator.mul: "multiply", operator.truediv: "rdiv"}


@pytest.mark.parametrize("symbol", OPERATORS, ids=lambda each: each.__name__)
def test_an_operator_on_a_value_is_a_call(symbol):
    ops = Listing()
    (x,) = ops.values([X])
    assert symbol(x, 2).spec == X
    assert ops.calls == [OPERATORS[symbol]]


@pytest.mark.parametrize("symbol", REFLECTED, ids=lambda each: each.__name__)
def test_a_number_may_be_the_left_operand(symbol):
    ops = Listing()
    (x,) = ops.values([X])
    assert symbol(2, x).spec == X
    assert ops.calls == [(REFLECTED[symbol], [(3, 40), 2.0])]


def test_operations_without_effect_return_their_operand():
    ops = Listing()
    (x,) = ops.values([X])
    assert x is ops.reshaped(x, [3, 40]) is ops.part(x, 1, 0, 40) is ops.rounded(x, DataType.BFLOAT16)
    assert not ops.calls
    assert [ops.sliced(x, 1, 0, 40).shape, ops.part(x, 1, 2, 5).shape] == [(3, 40), (3, 3)]
    assert [name for name, _ in ops.calls] == ["slice"] * 2


def test_an_unknown_operation_is_refused_by_its_name():
    with pytest.raises(AttributeError, match="there is no operation 'meen' to call"):
        SpecOps().meen(X)


def test_no_operation_is_hidden_by_a_method_of_the_protocol():
    methods = {name for kind in (FunctionOps, SpecOps, EagerOps) for name in dir(kind) if name[0] != "_"}
    assert not methods & {*OVERLOADS}


def macro(decompose, **fields):
    return MacroOperation(
        name="own", summary="", parameters=(OPERAND,), golden=None, decompose=decompose, **fields
    )  # fmt: skip


@pytest.mark.parametrize("in_float32", [False, True])
def test_a_macro_operation_rounds_as_its_calls_do_or_once(in_float32):
    def decompose(ops, x):
        return ops.exp(x) * 1.25 - 1.0

    own = macro(decompose, in_float32=in_float32)
    builder, ops = a_program()
    (made,) = own.decomposed(ops, [ops.value((builder.argument(X), X))], ())
    module = builder.finish([made.handle])
    casts = [op for op in module.walk() if op.name == "ttnn.typecast"]
    dtypes = [spec_of(op.results[0].type).dtype for op in module.walk() if op.name in {"ttnn.exp", "ttnn.multiply"}]
    assert len(casts) == 2 * in_float32
    assert {*dtypes} == {DataType.FLOAT32 if in_float32 else DataType.BFLOAT16}
    assert made.spec == X == own.results([X], ())[0]


def test_a_composite_may_call_macro_operations_and_other_composites():
    of = ttir.FullOp.make(1.0, tensor_type(X), UnknownLoc())
    builder = DecompositionBuilder(of)
    ops = FunctionOps(builder, None)
    x = Value(ops, X, of.results[0])

    def decompose(ops, x):
        x = ops.exp(x)
        return ops.sum(ops.stack([x, ops.softmax(x, 1)], 0), 0)

    (made,) = Composite(
        name="own", summary="", parameters=(OPERAND,), golden=None, decompose=decompose
    ).decomposed(ops, [x], ())  # fmt: skip
    assert made.shape == (3, 40)
    names = [op.name.removeprefix("ttir.") for op in builder.block.ops]
    assert names == ["exp", "max", "subtract", "exp", "sum", "div", "reshape", "reshape", "concat", "sum"]


def test_a_composite_may_call_operations_of_several_results():
    of = ttir.FullOp.make(1.0, tensor_type(X), UnknownLoc())
    builder = DecompositionBuilder(of)
    ops = FunctionOps(builder, None)
    values, indices = ops.topk(Value(ops, X, of.results[0]), 3, 1)
    assert (values.shape, indices.shape) == ((3, 3), (3, 3))
    topk = builder.block.first_op
    assert [each.handle for each in (values, indices)] == [*topk.results]
    wanted = X.with_(shape=(3, 3))  # the rounded value of one of several results is a separate value
    assert builder.finished((values.handle, values.spec), wanted) not in topk.results


def test_eager_calls_return_tensors_and_names_are_ttnns():
    x = ttnn.from_torch(torch.arange(12.0).reshape(3, 4))
    with ttnn.manage_device(0, target="cpu") as device:
        ops, x = EagerOps(), x.to(device)
        assert torch.equal(ops.call(EXP, [x]).to_torch(), ttnn.exp(x).to_torch())
        assert torch.equal(ops.call(CONCAT, [x, x], 0).to_torch(), ttnn.concat([x, x], 0).to_torch())
        assert torch.equal(ops.part(x, 1, 1, 3).to_torch(), x.to_torch()[:, 1:3])
        assert ops.filled(2.0, x.spec, device).to_torch().unique().tolist() == [2.0]
