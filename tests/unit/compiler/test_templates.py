"""Templates: which extents are symbols, plans for other sizes, and their JSON values."""

from __future__ import annotations

import json
import math
import operator
from contextlib import suppress

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ttnn_jit
from tests import programs
from tests.damage import damaged_json
from ttnn_jit import ttnn
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.compiler.stored_programs import StoredPrograms
from ttnn_jit.compiler.symbols import Symbols
from ttnn_jit.compiler.template import Template, compile_template, sizes_of
from ttnn_jit.compiler.templates import Templates
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.runtime.plans.launches import Launch, Repeat
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.plans.plan_template import PlanTemplate
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.extents.extent import applied, is_of_trace
from ttnn_jit.specs.extents.float_functions import double_bits
from ttnn_jit.specs.extents.formulas import Formulas
from ttnn_jit.specs.extents.trace import Trace
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, Layout, TensorSpec


def spec(*shape):
    return TensorSpec(shape, DataType.FLOAT32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG)


def sizes(*shapes, ints=(), floats=()):
    """The sizes of a call with tensors of these shapes."""
    return [*shapes, ints, tuple(map(double_bits, floats))]


def symbols_of(*calls):
    """The symbols after calls with these sizes, the last of which makes a template."""

    def varies(here):
        return len({shapes[here[0]][here[1]] for shapes in calls}) > 1

    def are_equal(one, other):
        return all(shapes[one[0]][one[1]] == shapes[other[0]][other[1]] for shapes in calls)

    return Symbols.of(calls[-1], varies, are_equal)


# --- Symbols --------------------------------------------------------------------------------------------------------


def test_an_extent_that_varied_is_a_symbol():
    symbols = symbols_of(sizes((4, 8)), sizes((5, 8)))
    assert (symbols.numbers[0], symbols.fixed[0], symbols.count) == ((0, None), (None, 8), 1)


def test_extents_that_were_always_equal_share_a_symbol():
    assert symbols_of(sizes((4, 4), (4, 7)), sizes((5, 5), (5, 9))).numbers[:2] == ((0, 0), (0, 1))


@pytest.mark.parametrize("extent", [0, 1])
def test_extents_of_0_and_1_are_fixed(extent):
    assert symbols_of(sizes((4, 8)), sizes((extent, 8))).count == 0


@pytest.mark.parametrize(("number", "count"), [(-1, 0), (0, 0), (1, 0), (2, 1), (-2, 1), (1 << 40, 0)])
def test_an_int_is_a_symbol_by_its_magnitude(number, count):
    assert symbols_of(sizes(ints=(9,)), sizes(ints=(number,))).count == count


@pytest.mark.parametrize("number", [0.0, -1.5, math.nan, math.inf])
def test_any_float_that_varied_is_a_symbol_but_none_of_an_int(number):
    symbols = symbols_of(sizes(ints=(7,), floats=(0.5,)), sizes(ints=(7,), floats=(number,)))
    assert symbols.numbers == ((None,), (0,))
    assert symbols.values(sizes(ints=(7,), floats=(-0.0,))) == [1 << 63]


def test_the_values_of_symbols_fit_all_their_extents_and_the_fixed_ones():
    symbols = symbols_of(sizes((4, 8), (4,), (3,)), sizes((5, 8), (5,), (3,)))
    assert symbols.values(sizes((6, 8), (6,), (3,))) == [6]
    assert symbols.values(sizes((6, 8), (7,), (3,))) is None
    assert symbols.values(sizes((6, 9), (6,), (3,))) is None
    assert symbols.values(sizes((6, 8), (6,), (4,))) is None


SHAPES = st.lists(st.lists(st.integers(0, 5), max_size=3).map(tuple), min_size=2, max_size=5)


@given(SHAPES, st.randoms(use_true_random=False))
def test_symbols_as_json_are_the_same_symbols(shapes, draw):
    symbols = Symbols.of(shapes, lambda _: draw.random() < 0.5, lambda one, other: one[1] == other[1])
    read = Symbols.from_json(json.loads(json.dumps(symbols.to_json())), [*map(len, shapes)])
    assert read == symbols


@pytest.mark.parametrize(
    "fields",
    [
        {"numbers": [[0], [], []], "fixed": [[None], [], []]},
        {"numbers": [[0, None], [], []], "fixed": [[None, None], [], []]},
        {"numbers": [[0, 1], [], []], "fixed": [[None, 8], [], []]},
        {"numbers": [[1, None], [], []], "fixed": [[None, 8], [], []]},
        {"numbers": [[1 << 62, None], [], []], "fixed": [[None, 8], [], []]},
        {"numbers": [[0, None], [], []], "fixed": [[None, 8.0], [], []]},
        {"numbers": [[False, None], [], []], "fixed": [[None, 8], [], []]},
        {"numbers": [[0, None]] * 2, "fixed": [[None, 8]]},
        {"numbers": 3, "fixed": [[None, 8]]},
    ],
)
def test_other_json_values_are_no_symbols(fields):
    with pytest.raises((TypeError, ValueError)):
        Symbols.from_json(fields, [2, 0, 0])


# --- Formulas -------------------------------------------------------------------------------------------------------

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<": operator.lt,
    "==": operator.eq,
    "/": operator.truediv,
    "**": operator.pow,
    "root": lambda one, _: applied(math.sqrt, abs(one)),
}
OF_INTS = {"//", "%"}
"""The operators whose second operand is an int."""


STEPS = st.lists(
    st.tuples(st.sampled_from([*OPERATORS]), st.integers(0, 9), st.integers(0, 9), st.integers(1, 40)), max_size=12
)


def traced_formulas(steps, hints):
    """The formulas of a trace that computes and compares by random steps, with a float as third symbol."""
    trace = Trace()
    numbers = [*(trace.symbol(hint) for hint in hints), trace.float_symbol(double_bits(1.25))]
    for name, one, other, number in steps:
        second = number if name in OF_INTS else numbers[other % len(numbers)]
        with suppress(ArithmeticError):
            result = OPERATORS[name](numbers[one % len(numbers)], second)
            if is_of_trace(result):
                numbers.append(result)
    return trace.formulas


@given(STEPS, st.tuples(st.integers(2, 99), st.integers(2, 99)), st.tuples(st.integers(2, 99), st.integers(2, 99)))
def test_formulas_as_json_are_the_same_formulas(steps, hints, sizes):
    formulas = traced_formulas(steps, hints)
    read = Formulas.from_json(json.loads(json.dumps(formulas.to_json())))
    assert read == formulas
    assert read.values([*hints, double_bits(1.25)]) is not None
    for number in (1.25, -0.0, math.nan):
        one, other = (each.values([*sizes, double_bits(number)]) for each in (read, formulas))
        assert repr(one) == repr(other)


@given(STEPS, st.randoms(use_true_random=False))
def test_damaged_formulas_are_refused_or_can_be_evaluated(steps, draw):
    fields = json.loads(json.dumps(traced_formulas(steps, (6, 8)).to_json()))
    try:
        read = Formulas.from_json(damaged_json(draw, fields))
    except (LookupError, TypeError, ValueError):
        return
    values = read.values([6, 8, 10, 12][: read.atoms.count(None)])
    assert values is None or {*map(type, values)} <= {int, float}


# --- Plans ----------------------------------------------------------------------------------------------------------


def plan_of(rows, columns=8):
    """A plan that negates rows one after the other, and then adds all at once, in no particular code."""
    each = Launch("negate", (0, 2), (columns, 1, 1), steps=((columns, columns),))
    launches = (Repeat(rows, (each,)), Launch("add", (2, 0, 1), (rows * columns, 1, 1, 1)))
    matrix = TensorSpec([rows, columns], DataType.FLOAT32, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG)
    return ProgramPlan("both", (matrix,), (matrix,), (matrix,), launches)


@pytest.fixture
def traced():
    """The plan template of `plan_of` whose rows are a symbol, and the formulas of its trace."""
    trace = Trace()
    with trace.recording():
        plan = plan_of(trace.symbol(6))
    return PlanTemplate.of(plan, [6]), trace.formulas


def test_the_example_of_a_plan_template_is_the_plan_of_its_hint(traced):
    assert traced[0].example == plan_of(6)


@given(rows=st.integers(2, 500))
def test_a_plan_template_makes_the_plan_of_each_size(rows):
    trace = Trace()
    with trace.recording():
        plan = plan_of(trace.symbol(6))
    template = PlanTemplate.of(plan, [6])
    found, expected = template.plan_for([spec(rows, 8)], [rows]), plan_of(rows)
    assert found == expected
    assert found.hash == expected.hash
    for name in ("buffers", "each_launch", "runs", "used_inputs", "kernels", "bytes_touched", "made_in_place"):
        assert getattr(found, name) == getattr(expected, name)


def test_what_no_size_changes_is_shared(traced):
    template, _ = traced
    one, other = (template.plan_for([spec(rows, 8)], [rows]) for rows in (7, 9))
    assert one.launches[0].launches[0] is other.launches[0].launches[0]
    assert one.outputs[0] is one.inputs[0]


def test_every_plan_of_a_template_is_checked(traced):
    template, _ = traced
    with pytest.raises(InternalError, match="leaves the memory of operand"):
        template.plan_for([spec(7, 8)], [8])
    with pytest.raises(InternalError, match="before it is written"):
        template.plan_for([spec(9, 8)], [8])


def test_a_plan_template_as_json_is_the_same_template(traced):
    template, formulas = traced
    fields = json.loads(json.dumps(template.to_json()))
    assert PlanTemplate.from_json(fields, template.example, formulas.whole_atoms) == template
    with pytest.raises(ValueError, match="atom"):
        PlanTemplate.from_json(fields, template.example, ())


# --- Templates of functions -----------------------------------------------------------------------------------------


def two_matrices(x, weight):
    return ttnn.softmax(ttnn.matmul(x, weight), dim=-1), ttnn.exp(x) + 1.0


FUNCTIONS = {
    "cosh": (programs.cosh, lambda rows: [spec(rows, 9)]),
    "two matrices": (two_matrices, lambda rows: [spec(rows, 16), spec(16, 8)]),
    "a row": (lambda x, row: ttnn.add(x, row) * x, lambda rows: [spec(rows, 6), spec(1, 6)]),
}


def request_of(name, rows):
    function, specs = FUNCTIONS[name]
    return ttnn_jit.jit()(function).request(*(torch.empty(each.shape) for each in specs(rows)))


@pytest.fixture(params=FUNCTIONS)
def named_template(request):
    """A name in `FUNCTIONS`, and a template of that function."""
    one, other = request_of(request.param, 40), request_of(request.param, 41)
    symbols = symbols_of(*map(sizes_of, (one, other)))
    return request.param, compile_template(other, symbols, StoredPrograms.none(other))


def test_the_plan_of_a_template_is_that_of_a_cold_compile(named_template):
    name, compiled = named_template
    for rows in (41, 2, 33, 77):
        other = request_of(name, rows)
        found = compiled.compilation_for(other)
        if found is not None:
            cold = compile_program(other, use_disk=False).program
            assert found.program.plan.to_json() == cold.plan.to_json()
            assert [*map(dict, found.program.descriptors)] == [*map(dict, cold.descriptors)]
    assert compiled.compilation_for(request_of(name, 42)) is not None


def test_a_template_as_json_makes_the_same_plans(named_template):
    name, compiled = named_template
    template, own = compiled.template, sizes_of(request_of(name, 43))
    ranks = [*map(len, own)]
    read = Template.from_json(json.loads(json.dumps(template.to_json())), template.plan.example, ranks)
    assert read == template
    specs = FUNCTIONS[name][1](43)
    assert read.plan_for(specs, own) == template.plan_for(specs, own) is not None


def test_a_size_that_no_tensor_has_is_left_to_the_compile(traced):
    template, formulas = traced
    whole = Template(symbols_of(sizes((5, 8)), sizes((6, 8))), formulas, template)
    numbers = tuple(tuple((own * 40, factor) for own, factor in terms) for terms in template.numbers)
    huge = PlanTemplate(template.example, numbers, ((),), template.specs, template.launches, (), ())
    assert whole.plan_for([spec(7, 8)], sizes((7, 8))) is not None
    assert Template(whole.symbols, formulas, huge).plan_for([spec(7, 8)], sizes((7, 8))) is None


def test_templates_are_forgotten():
    templates = Templates(True, lambda compilation: compilation)
    first, second = request_of("cosh", 40), request_of("cosh", 41)

    def compiled(own):
        before = ttnn_jit.cache_info().compiles
        templates.compilation((None,), own, lambda _: (), use_disk=False)
        return ttnn_jit.cache_info().compiles - before

    assert [compiled(first), compiled(second)] == [1, 0]
    templates.clear()
    assert compiled(second) == 1
