"""Facts of declarations are true: algebraic properties, kinds of parameters, rules of results."""

from __future__ import annotations

import itertools
import math
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit import ops
from ttnn_jit import ttnn as package
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.dialects import InvalidModule, parse_module, print_module, ttnn, verify
from ttnn_jit.dialects.derive import derive_opaque
from ttnn_jit.dialects.layout import tensor_type
from ttnn_jit.dialects.properties import PROPERTY_TYPES, properties_of, statics_of
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops.families import opaque
from ttnn_jit.ops.language import parameter
from ttnn_jit.ops.language.arithmetic import dtypes_of
from ttnn_jit.ops.language.kinds import IntKind, as_float32
from ttnn_jit.ops.language.parameter import BOOL, FLOAT, LIMIT, TENSOR_OR_NUMBER, Parameter, integers
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms import pipeline

NUMBERS = [0.0, 1.0, 0.5, 3.0, 1e-45, 1.2e-38, 3.4028234663852886e38, math.inf]
VALUES = np.array([*NUMBERS, *(-number for number in NUMBERS), math.nan], np.float32)


def bits(values):
    """Bits, every NaN as the same one."""
    values = np.asarray(values, np.float32)
    return np.where(np.isnan(values), np.float32(math.nan), values).view(np.uint32)


def declared(law):
    return [pytest.param(o, id=o.ttnn_name) for o in ops.ELEMENTWISE if getattr(o.algebra, law) not in {None, False}]


def pairs():
    return (np.array(column, np.float32) for column in zip(*itertools.product(VALUES, VALUES), strict=True))


@pytest.mark.parametrize("operation", declared("right_identity"))
def test_a_neutral_number_returns_the_first_operand_bit_for_bit(operation):
    with NumpyVector.quiet():
        result = operation.emit(NumpyVector(), VALUES, np.full_like(VALUES, operation.algebra.right_identity))
    assert (bits(result) == bits(VALUES)).all()


@pytest.mark.parametrize("operation", declared("commutative"))
def test_operands_of_a_commutative_operation_can_be_swapped(operation):
    x, y = pairs()
    with NumpyVector.quiet():
        assert (bits(operation.emit(NumpyVector(), x, y)) == bits(operation.emit(NumpyVector(), y, x))).all()


@pytest.mark.parametrize("operation", declared("associative"))
def test_an_associative_operation_can_be_regrouped(operation):
    x, y, z = (np.array(column, np.float32) for column in zip(*itertools.product(VALUES, repeat=3), strict=True))
    b = NumpyVector()
    with NumpyVector.quiet():
        found = [operation.emit(b, operation.emit(b, x, y), z), operation.emit(b, x, operation.emit(b, y, z))]
        found.append(operation.emit(b, operation.emit(b, x, z), y))
    assert (bits(found[0]) == bits(found[1])).all()
    assert (bits(found[0]) == bits(found[2])).all()


@pytest.mark.parametrize("operation", [*declared("copies"), *declared("negates")])
def test_declared_copies_and_negations_are_exact(operation):
    expected = -VALUES if operation.algebra.negates else VALUES
    assert (bits(operation.emit(NumpyVector(), VALUES)) == bits(expected)).all()


@pytest.mark.parametrize("operation", declared("monotone"))
def test_a_monotone_operation_is_monotone_on_either_side_of_zero(operation):
    for index, others in itertools.product(
        range(operation.arity), itertools.product(VALUES, repeat=operation.arity - 1)
    ):
        for side in (NUMBERS[1:], [-number for number in NUMBERS[1:]]):
            operands = list(map(np.float32, others))
            operands.insert(index, np.array(sorted(side), np.float32))
            with NumpyVector.quiet():
                found = np.broadcast_to(operation.emit(NumpyVector(), *operands), len(side))
                steps = np.nan_to_num(np.diff(found[~np.isnan(found)]))
            assert (steps >= 0).all() or (steps <= 0).all(), operands


WITH_ATTRIBUTES = [operation for operation in ops.ELEMENTWISE if operation.attributes]


def test_an_operation_without_attributes_has_none_in_its_properties():
    without = [operation for operation in ops.ELEMENTWISE if not operation.attributes]
    assert [operation for operation in without if statics_of(operation, properties_of(operation, ()), "op") != ()] == []


@pytest.mark.parametrize("operation", WITH_ATTRIBUTES, ids=lambda operation: operation.ttnn_name)
@given(st.data())
def test_bound_attributes_round_trip_through_the_properties_that_hold_them(operation, data):
    numbers = st.floats(width=32) | st.integers(-10, 10) | st.booleans()
    given_values = [
        data.draw(st.sampled_from(attribute.kind.values) if isinstance(attribute.kind, IntKind) else numbers)
        for attribute in operation.attributes
    ]
    statics = tuple(a.kind.bind(v, None, "it") for a, v in zip(operation.attributes, given_values, strict=True))
    found = statics_of(operation, properties_of(operation, statics), "op")
    keys = [tuple(a.kind.key(v) for a, v in zip(operation.attributes, vs, strict=True)) for vs in (statics, found)]
    assert keys[0] == keys[1]


def test_every_type_of_property_that_a_kind_names_can_be_written_and_read():
    kinds = [value for value in vars(parameter).values() if isinstance(value, parameter.Kind)]
    assert {kind.property_type for kind in kinds} - {""} == set(PROPERTY_TYPES)


@given(st.floats(), st.floats())
def test_keys_of_numbers_are_equal_for_equal_bits_only(x, y):
    x, y = as_float32(x), as_float32(y)
    same = np.float64(x).tobytes() == np.float64(y).tobytes()
    assert (FLOAT.key(x) == FLOAT.key(y)) is same
    assert (TENSOR_OR_NUMBER.key(x) == TENSOR_OR_NUMBER.key(y)) is same


@pytest.mark.parametrize("kind", [FLOAT, LIMIT, BOOL, integers(-3, 3)])
@pytest.mark.parametrize("value", ["1", None, [1.0], 1j, b"1"])
def test_a_value_that_is_no_number_is_refused_with_its_type(kind, value):
    with pytest.raises(ArgumentError, match=rf"^`slope` must be {kind.wanted}, got {type(value).__name__}"):
        kind.bind(value, None, "`slope`")


def test_a_limit_is_that_of_the_dtype_and_keeps_its_sign():
    for sign in (1.0, -1.0):
        limit = Parameter("limit", LIMIT, sign * 3.4028234663852886e38)
        assert [limit.default_of(dtype) for dtype in DataType] == [sign * dtype.traits.largest for dtype in DataType]


EXTENTS = st.lists(st.sampled_from([1, 2, 3, 32]), max_size=3).map(tuple)


@given(EXTENTS, EXTENTS, EXTENTS)
def test_the_rule_that_builds_a_result_is_the_one_that_verifies_it(x, y, stated_shape):
    operation = ops.OVERLOADS["add"][0]
    specs = [TensorSpec(shape, DataType.FLOAT32, Layout.TILE) for shape in (x, y)]
    try:
        (result,) = operation.results(specs, ())
    except CompileError:
        result = None
    text = 'func.func @f(%a: {0}, %b: {1}) {{ %0 = "ttnn.add"(%a, %b) : ({0}, {1}) -> {2} \n func.return }}'
    types = [tensor_type(spec) for spec in (*specs, TensorSpec(stated_shape, DataType.FLOAT32, Layout.TILE))]
    module = parse_module(text.format(*types))
    if result is not None and tuple(result.shape) == stated_shape:
        verify(module)
    else:
        with pytest.raises(InvalidModule, match=r"'ttnn.add' op: "):
            verify(module)


@pytest.mark.parametrize("name", [f"{d}.{o.name}" for o in opaque.DECLARATIONS for d in o.dialects])
def test_an_opaque_operation_is_parsed_printed_and_kept_by_every_pass(name):
    type_ = tensor_type(TensorSpec((32, 32), DataType.FLOAT32, Layout.TILE))
    op = f'%0 = "{name}"(%a) {{x = 1 : i32}} : ({type_}) -> {type_}'
    module = parse_module(f"func.func @f(%a: {type_}) -> {type_} {{ {op} \n func.return %0 : {type_} }}")
    verify(module)
    assert print_module(parse_module(print_module(module))) == print_module(module)
    pipeline.run(module, CompileOptions())
    assert f'"{name}"' in print_module(module)


def test_opaque_operations_have_names_of_their_own():
    computed = {op_class.name for op_class in ttnn.OP_OF.classes()}
    assert not computed & {op_class.name for op_class in derive_opaque("ttnn")}


def test_every_operation_of_the_other_families_has_examples_but_those_of_pages_and_of_several_sequences():
    others = [each for each in ops.OPERATIONS if not isinstance(each, ops.Elementwise)]
    assert {each.name for each in others if not each.examples} == {
        "experimental.paged_fill_cache",
        "experimental.rotary_embedding_llama_fused_qk",
        "transformer.chunked_scaled_dot_product_attention",
        "transformer.joint_scaled_dot_product_attention",
        "transformer.paged_scaled_dot_product_attention_decode",
    }


@pytest.mark.parametrize("operation", ops.ELEMENTWISE, ids=lambda operation: operation.ttnn_name)
def test_calls_have_equal_keys_for_equal_specs_and_numbers_only(operation):
    spec, other = (TensorSpec((32, extent), DataType.FLOAT32) for extent in (32, 64))
    numbers = operation.tested_attributes
    call = ops.BoundCall(operation, (), numbers)
    keys = {tuple(call.key((chosen,) * operation.arity)) for chosen in (spec, other, spec)}
    for index in range(len(numbers)):
        changed = (*numbers[:index], numbers[index] + 1.0, *numbers[index + 1 :])
        keys.add(tuple(ops.BoundCall(operation, (), changed).key((spec,) * operation.arity)))
    assert len(keys) == 2 + len(numbers)


@pytest.mark.parametrize("type_", ["tensor<32x32xf32>", "tensor<?x4xbf16>", "tensor<2xi64>"])
def test_ops_on_types_of_other_compilers_are_parsed_verified_and_printed(type_):
    op = f'%0 = "ttir.add"(%a, %a) : ({type_}, {type_}) -> {type_}'
    module = parse_module(f"func.func @f(%a: {type_}) -> {type_} {{ {op} \n func.return %0 : {type_} }}")
    verify(module)
    assert op in print_module(module).replace("%arg0", "%a")


def test_notes_about_ttnn_are_in_the_help_and_no_elementwise_function_has_any():
    """Chips have the functions of every target (tests/properties/accuracy/test_accuracy.py compares the bits)."""
    imitating = [each for each in ops.OPERATIONS if each.vendor_quirks]
    assert {each.name for each in imitating} >= {"matmul", "linear", "transformer.scaled_dot_product_attention"}
    for operation in imitating:
        assert not isinstance(operation, ops.Elementwise)
        text = attrgetter(operation.name)(package).__doc__
        assert all(f"As in ttnn: {each}" in text for each in operation.vendor_quirks)


def test_a_body_that_calls_what_no_arithmetic_has_is_an_error_and_no_operation_without_types():
    with pytest.raises(TypeError, match="a tile body calls `mull`, which no arithmetic has; is it `mul`"):
        dtypes_of(lambda b, x: b.mull(x, x), 1)
