"""Every operation on integers and bools of torch and numpy equals torch, or is refused by name."""

from __future__ import annotations

import math
from operator import attrgetter

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import InternalError, TtnnJitError
from ttnn_jit.ops import OPERATIONS, OVERLOADS, Elementwise, Reduction
from ttnn_jit.ops.elementwise.typecast import Typecast
from ttnn_jit.ops.families.routine import Routine
from ttnn_jit.ops.language.kinds import TensorKind
from ttnn_jit.specs.dtypes import INDICES, DataType, dtypes_of_torch

SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)
INTEGERS = (torch.bool, *SIGNED, torch.uint8, torch.uint16, torch.uint32, torch.uint64)
FLOATS = (torch.float32, torch.bfloat16)
LAYOUTS = {
    "dense": lambda t: t,
    "transposed": lambda t: t.T.contiguous().T if t.ndim == 2 else t,
    "strided": lambda t: torch.stack([t, t], -1)[..., 1],
    "expanded": lambda t: t[:1].expand(t.shape) if t.ndim and t.shape[0] else t,
}
NUMBERS = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, -1.5, 2.0, 0.0]),
    st.sampled_from([127, 255, 2**15, 2**31, -(2**33)]),
)


def limits(dtype):
    return (0, 1) if dtype is torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)


@st.composite
def tensors(draw, shape, dtype, below=None):
    """Extreme and small numbers of a type, or numbers below a bound that all types represent."""
    first, last = limits(dtype) if below is None else (0, below - 1)
    near = [n for n in (0, 1, 2, 3, -1, -2, -5, 31, 32, 2**31, 2**32, 2**33 + 1) if first <= n <= last]
    values = st.one_of(st.sampled_from(near), st.sampled_from([first, last]), st.integers(first, last))
    count = math.prod(shape)
    some = draw(st.lists(values, min_size=min(count, 1), max_size=min(count, 12)))
    order = draw(st.integers(0, 2**16))
    picked = np.random.default_rng(order).integers(0, max(1, len(some)), count)
    numbers = np.array([some[index] for index in picked], dtype=np.uint64 if dtype is torch.uint64 else np.int64)
    return torch.from_numpy(numbers).to(dtype).reshape(shape)


def exact(x):
    """The numbers of a tensor as Python's."""
    return np.array(x.tolist(), dtype=object).reshape(tuple(x.shape))


def same_numbers(found, expected):
    """Whether the values are equal; an integer result may be the low bits of torch's result in a wider type."""
    if found.is_floating_point():
        expected = expected.double()
        return torch.allclose(
            found.double(),
            expected,
            rtol=2.0**-7 if found.dtype is torch.bfloat16 else 2.0**-20,
            atol=0.0,
            equal_nan=True,
        )
    if found.dtype is torch.bool:
        return bool((exact(found).astype(int) == exact(expected)).all())
    wide = expected.to(torch.int64)
    cut = wide if found.dtype is torch.int64 else wide.to(found.dtype)
    return torch.equal(cut.to(torch.int64), found.to(torch.int64))


REFUSED_BY_TORCH = (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError, AttributeError)


def references(golden, operands, attributes):
    """Torch's result, and that of the same integers in 64 bits: torch lacks some types, and wraps in others."""
    for widen in (as_they_are, where_torch_lacks_them, in_64_bits):
        for number in (as_they_are, as_tensors, as_whole_tensors):
            try:
                yield golden(torch, *(number(widen(each)) for each in operands), *attributes)
            except REFUSED_BY_TORCH:
                continue
            break


def as_they_are(operand):
    return operand


def where_torch_lacks_them(operand):
    """Unsigned types for which torch supports more than moves."""
    lacking = isinstance(operand, torch.Tensor) and operand.dtype in {torch.uint16, torch.uint32, torch.uint64}
    return operand.to(torch.int64) if lacking else operand


def in_64_bits(operand):
    return operand.to(torch.int64) if isinstance(operand, torch.Tensor) and not operand.is_floating_point() else operand


def as_tensors(operand):
    return torch.tensor(operand) if isinstance(operand, bool | int | float) else operand


def as_whole_tensors(operand):
    return torch.tensor(int(operand)) if isinstance(operand, bool) else as_tensors(operand)


def without_zeros(operand):
    """Divisors: torch refuses zeros among integers."""
    return (
        torch.where(operand == 0, torch.ones((), dtype=operand.dtype), operand)
        if isinstance(operand, torch.Tensor)
        else operand or 1
    )


def is_index(operation, index):
    """Whether an operand of a routine holds indices of elements of another."""
    allowed = operation.operand_dtypes if isinstance(operation, Routine) else ()
    return len(allowed) > 1 and allowed[index] >= INDICES and DataType.FLOAT32 not in allowed[index]


OF_NUMBERS = [
    each for each in OPERATIONS if isinstance(each, Elementwise) and not isinstance(each, Typecast) and not each.body
]
BY_EXAMPLE = [each for each in OPERATIONS if not isinstance(each, Elementwise) and each.examples]
REDUCTIONS = [each for each in OPERATIONS if isinstance(each, Reduction)]


@st.composite
def of_numbers(draw):
    """An elementwise call: operands of equal or broadcasting shapes, of one type or several, and numbers."""
    operation = draw(st.sampled_from(OF_NUMBERS))
    shape = draw(st.sampled_from([(), (1,), (7,), (3, 5), (33, 40), (2, 1, 4)]))
    dtype, operands = draw(st.sampled_from(INTEGERS)), []
    for index, operand in enumerate(operation.operands):
        number = isinstance(operand.kind, TensorKind) and operand.kind.or_number
        if number and (index or operation.dtype_operand) and draw(st.integers(0, 2)) == 0:
            operands.append(draw(NUMBERS))
            continue
        own = dtype if draw(st.integers(0, 2)) else draw(st.sampled_from([*INTEGERS, *FLOATS]))
        extents = shape if draw(st.integers(0, 3)) else tuple(1 for _ in shape)
        operands.append(
            draw(tensors(extents, own)) if own not in FLOATS else draw(tensors(extents, torch.int16, 100)).to(own)
        )
    if not any(isinstance(each, torch.Tensor) for each in operands):
        operands[0] = draw(tensors(shape, dtype))
    return operation, operands, operation.tested_attributes


@st.composite
def by_example(draw):
    """A call of another family, in test shapes of its declaration."""
    operation = draw(st.sampled_from(BY_EXAMPLE))
    shapes, statics = draw(st.sampled_from(operation.examples))
    bound = min((extent for shape in shapes if shape for extent in shape), default=1)
    indices = {index for index, _ in enumerate(operation.operands) if is_index(operation, index)}
    chosen_from = [*INTEGERS, *FLOATS] if indices else INTEGERS  # torch promotes integers and floats to floats
    dtype, other, operands = draw(st.sampled_from(chosen_from)), draw(st.sampled_from(INTEGERS)), []
    for index, shape in enumerate(shapes):
        own = other if index in indices else dtype
        below = 1 if index in indices and bound < 2 else 2 if index in indices else 4 if own in FLOATS else None
        made = None if shape is None else draw(tensors(shape, torch.int16 if own in FLOATS else own, below))
        operands.append(made if made is None else made.to(own))
    return operation, operands, statics


@st.composite
def reductions(draw):
    """A reduction of a matrix along any dimensions."""
    operation = draw(st.sampled_from(REDUCTIONS))
    axes = draw(st.sampled_from([(0,), (1,), (0, 1)]))
    x = draw(tensors(draw(st.sampled_from([(3, 5), (40, 33)])), draw(st.sampled_from(INTEGERS))))
    return operation, [x], (axes, draw(st.booleans()))


@st.composite
def casts(draw):
    """A cast from any of these types to one of ttnn, or to one that only torch and numpy have."""
    operation = next(each for each in OPERATIONS if isinstance(each, Typecast))
    x = draw(tensors(draw(st.sampled_from([(), (7,), (33, 40)])), draw(st.sampled_from(INTEGERS))))
    return operation, [x], (draw(st.sampled_from([*dtypes_of_torch().values()])),)


CALLS = st.one_of(of_numbers(), of_numbers(), of_numbers(), by_example(), by_example(), reductions(), casts())


def program_of(operation, operands, attributes):
    """The call as a function of its tensors, which are named by their indices."""
    function = attrgetter(operation.name)(ttnn)
    names = [each.name for each in operation.operands]
    keywords = {
        **dict(zip([each.name for each in operation.attributes], attributes, strict=True)), **operation.fixed_keywords,
    }  # fmt: skip
    indices = [k for k, each in enumerate(operands) if isinstance(each, torch.Tensor)]

    def program(*given_):
        arguments = list(operands)
        for index, tensor in zip(indices, given_, strict=True):
            arguments[index] = tensor
        if operation.is_variadic:
            return function(list(given_), **keywords)
        return function(**{n: each for n, each in zip(names, arguments, strict=True) if each is not None}, **keywords)

    return program, [operands[index] for index in indices]


def listed(results):
    return list(results) if isinstance(results, tuple | list) else [results]


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=CALLS, laid=st.sampled_from([*LAYOUTS]), capture=st.booleans(), numpy=st.booleans())
def test_every_operation_computes_integers_as_torch_does_or_refuses_them(drawn, laid, capture, numpy):
    check(drawn, laid, capture, numpy)


def check(drawn, laid, capture, numpy, **options):
    """Compares one call with torch; returns whether it was computed."""
    operation, operands, attributes = drawn
    if not any(isinstance(each, torch.Tensor) and not each.is_floating_point() for each in operands):
        return False
    operands = [LAYOUTS[laid](each) if isinstance(each, torch.Tensor) else each for each in operands]
    program, given_ = program_of(operation, operands, attributes)
    if numpy and all(each.dtype is not torch.bfloat16 for each in given_):
        given_ = [each.numpy() for each in given_]
    try:
        results = listed(jit(graph_capture=capture, enable_cache=False, **options)(program)(*given_))
    except InternalError:
        raise
    except TtnnJitError:
        return False
    goldens = [each.golden for each in OVERLOADS[operation.name] if each.arity == operation.arity]
    expected = [each for golden in goldens for each in references(golden, operands, attributes)]
    if not expected and any(torch.as_tensor(each).is_floating_point() for each in results):
        return False  # torch does not support this mixture of floats
    if is_pair(operation) and (by_zero := torch.as_tensor(operands[1] == 0)).any():
        # Torch refuses integer divisors of 0: only the others are compared.
        divided = operands[0], without_zeros(operands[1])
        whole = [each for golden in goldens for each in references(golden, divided, attributes)]
        kept = torch.as_tensor(results[0])
        expected += [
            torch.where(by_zero, kept.to(each.dtype), each) for each in whole if isinstance(each, torch.Tensor)
        ]
    assert any(agree(results, listed(each)) for each in expected), (results, expected)
    return True


def is_pair(operation):
    """Whether it may divide one operand by the other."""
    return operation.arity == 2 and isinstance(OVERLOADS[operation.name][0], Elementwise)


def agree(results, expected):
    """Whether the counts, shapes and numbers are equal."""
    pairs = [*zip(map(torch.as_tensor, results), expected, strict=True)]
    same_shapes = all(tuple(found.shape) == tuple(wanted.shape) for found, wanted in pairs)
    # The others are indices of numbers, and torch may choose any of equal ones.
    return same_shapes and same_numbers(*pairs[0])


CHAINED = (torch.bool, torch.uint8, torch.int16, torch.int32, torch.float32)


def compared(operation):
    """A comparison, whose result here has the promoted type of the operands."""
    return lambda a, b: operation(a, b).to(torch.result_type(a, b))


PAIRED = {
    "add": (ttnn.add, torch.add),
    "multiply": (ttnn.multiply, torch.mul),
    "minimum": (ttnn.minimum, torch.minimum),
    "maximum": (ttnn.maximum, torch.maximum),
    "lt": (ttnn.lt, compared(torch.lt)),
    "eq": (ttnn.eq, compared(torch.eq)),
    "logical_xor": (ttnn.logical_xor, compared(torch.logical_xor)),
}
OF_INTEGERS = {
    "bitwise_and": (ttnn.bitwise_and, torch.bitwise_and),
    "bitwise_or": (ttnn.bitwise_or, torch.bitwise_or),
    "bitwise_xor": (ttnn.bitwise_xor, torch.bitwise_xor),
}


@st.composite
def chains(draw):
    """Steps over three tensors and earlier results, by their indices: pairs, masks, casts, complements."""
    dtypes, steps = [draw(st.sampled_from(CHAINED)) for _ in range(3)], []
    known = list(dtypes)
    for _ in range(draw(st.integers(2, 7))):
        a, b, c = (draw(st.integers(0, len(known) - 1)) for _ in range(3))
        met = torch.promote_types(known[a], known[b])
        step = draw(st.sampled_from(["pair", "pair", "pair", "where", "cast", "not"]))
        if step == "pair":
            names = [*PAIRED, *(OF_INTEGERS if torch.float32 not in {known[a], known[b]} else ())]
            steps.append((draw(st.sampled_from(names)), a, b))
            known.append(met)
        elif step == "where" and known[c] is not torch.float32:
            steps.append(("where", c, a, b))
            known.append(met)
        elif step == "cast":
            to = draw(st.sampled_from([torch.bool, torch.float32, *(CHAINED if known[a] is not torch.float32 else ())]))
            steps.append(("cast", a, to))
            known.append(to)
        else:
            steps.append(("not", a))
            known.append(known[a])
    return dtypes, steps


def carried_out(steps, values, ours):
    """All values of the steps, by ttnn's functions or torch's."""
    values = list(values)
    for name, first, *others in steps:
        if name == "where":
            a, b = (values[index] for index in others)
            found = ttnn.where(values[first], a, b) if ours else torch.where(values[first] != 0, a, b)
        elif name == "cast":
            (to,) = others
            found = ttnn.typecast(values[first], to) if ours else values[first].to(to)
        elif name == "not":
            x = values[first]
            found = ttnn.logical_not(x) if ours else torch.logical_not(x).to(x.dtype)
        else:
            found = {**PAIRED, **OF_INTEGERS}[name][not ours](values[first], values[others[0]])
        values.append(found)
    return values


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=chains(), shape=st.sampled_from([(7,), (3, 5), (33, 40)]), capture=st.booleans(), data=st.data())
def test_programs_of_several_types_have_the_results_and_types_of_torch(program, shape, capture, data):
    dtypes, steps = program
    given_ = [
        data.draw(tensors(shape, dtype if dtype is not torch.float32 else torch.int8)).to(dtype) for dtype in dtypes
    ]
    expected = carried_out(steps, given_, ours=False)[len(given_) :]
    results = jit(graph_capture=capture, enable_cache=False)(
        lambda *xs: tuple(carried_out(steps, xs, ours=True)[len(xs) :])
    )(*given_)
    for found, wanted in zip(results, expected, strict=True):
        assert found.dtype is wanted.dtype
        assert torch.equal(found, wanted)
    (last,) = jit(graph_capture=capture, enable_cache=False)(lambda *xs: (carried_out(steps, xs, ours=True)[-1],))(
        *given_
    )
    assert torch.equal(last, expected[-1])
