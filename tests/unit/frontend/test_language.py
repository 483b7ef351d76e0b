"""The Python of both frontends; each program is lowered by both and must give one text, locations included."""
# ruff: noqa: E702, E731, F842, PLC2401, RET504 - programs are written as users write them

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum

import pytest

from tests.unit.frontend import stand_in
from tests.unit.frontend.stand_in import BF16, F32, StandInJit, lowered, ttnn
from tests.unit.frontend.stand_in import ttnn as t
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import print_module

Pair = namedtuple("Pair", "left right")
SCALE = 0.25
ACTIVATIONS = {"exp": ttnn.exp, "twice": lambda x: x * 2}
PLUS_ONE = functools.partial(ttnn.add, 1.0)


class Mode(Enum):
    FAST = "fast"
    EXACT = "exact"


@dataclass(frozen=True)
class Settings:
    scale: float = 3.0
    layers: tuple[int, ...] = (1, 2)


SETTINGS = Settings()


def doubling(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


@doubling
def wrapped(x, y=1.0):
    return x + y


@functools.cache
def number_of_layers(n):
    return n + SCALE


class Layer:
    def __init__(self, scale):
        self.scale = scale
        self.__private = 7.0

    def private(self, x):
        return list(map(lambda y: y * self.__private, [x]))[0]  # noqa: C417, RUF015

    @property
    def twice(self):
        return 2 * self.scale

    def forward(self, x):
        return x * self.scale + self.twice

    def __call__(self, x):
        return self.forward(x)


LAYER = Layer(1.5)


def both(function, *args, **kwargs):
    """The text of both the interpreter and the trace, and the module of the interpreter."""
    interpreted = lowered(function, *args, graph_capture=False, **kwargs)
    traced = lowered(function, *args, graph_capture=True, **kwargs)
    assert print_module(interpreted.module, locations=True) == print_module(traced.module, locations=True)
    assert interpreted.output_structure == traced.output_structure
    assert interpreted.warnings == traced.warnings
    return print_module(interpreted.module), interpreted


def ops(function, *args, **kwargs):
    """Names of the operations except get_device, in order; a full as its number."""
    _, result = both(function, *args, **kwargs)
    names = []
    for op in result.module.body.block.first_op.body.block.ops:
        name = op.name.partition(".")[2]
        if name == "full":
            names.append(op.properties["fill_value"].value.data)
        elif name not in {"get_device", "return"}:
            names.append(name)
    return names


def test_an_operation_through_an_alias_of_the_namespace():
    assert ops(lambda x: t.exp(x), BF16) == ["exp"]


def test_an_operation_through_a_module_attribute():
    assert ops(lambda x: stand_in.ttnn.exp(x), BF16) == ["exp"]


def test_an_operation_in_a_variable_a_container_a_closure_and_a_partial():
    captured = ttnn.neg

    def f(x):
        op = ttnn.exp
        return PLUS_ONE(captured(ACTIVATIONS["exp"](op(x))))

    assert ops(f, BF16) == ["exp", "exp", "neg", 1.0, "add"]


def test_an_operation_among_the_arguments():
    def f(x, op, factor=2):
        return op(x) * factor

    assert ops(f, BF16, ttnn.exp) == ["exp", 2.0, "multiply"]
    assert ops(f, BF16, op=ttnn.neg, factor=3.5) == ["neg", 3.5, "multiply"]


def test_operators_and_numbers_on_either_side():
    def f(x, y):
        return ((2 - x) * y / 4 + 1 / x) ** 2 - (-y)

    names = [2.0, "subtract", "multiply", 4.0, "divide", 1.0, "divide", "add", 2.0, "pow_tensor", "neg", "subtract"]
    assert ops(f, BF16, BF16) == names


def test_comparisons_and_abs():
    def f(x, y):
        return abs(x) > 1, x <= y, x > 0.5, x == y, x != 0

    assert ops(f, BF16, BF16) == ["abs", 1.0, "gt", "le", 0.5, "gt", "eq", 0.0, "ne"]


def test_a_loop_unrolls_with_continue_break_and_else():
    def f(x):
        for i in range(10):
            if i == 1:
                continue
            if i == 3:
                break
            x = x + i
        else:
            x = ttnn.exp(x)
        for _ in ():
            pass
        x = ttnn.neg(x)
        return x

    assert ops(f, BF16) == [0.0, "add", 2.0, "add", "neg"]


def test_a_while_over_compile_time_values():
    def f(x, n):
        while n > 0:
            n -= 1
            if n == 5:
                return x
            x += n
        x = -x
        return x

    assert ops(f, BF16, 2) == [1.0, "add", 0.0, "add", "neg"]
    assert ops(f, BF16, 7) == [6.0, "add"]


def test_branches_on_shapes_dtypes_layouts_and_none():
    def f(x, bias=None, *, mode="a"):
        if x.shape[-1] == 32 and x.dtype == ttnn.bfloat16:
            x = ttnn.exp(x)
        if x.layout is ttnn.TILE_LAYOUT and not x.memory_config().is_sharded():
            x = ttnn.neg(x)
        if bias is not None:
            x = x + bias
        elif mode == "b" or len(x.shape) > 5:
            x = ttnn.abs(x)
        return x if mode else -x

    assert ops(f, BF16) == ["exp", "neg"]
    assert ops(f, F32, F32) == ["neg", "add"]
    assert ops(f, F32, mode="b") == ["neg", "abs"]


def test_unpacking_with_a_star_at_every_position():
    def f(*xs):
        first, *middle, last = xs
        (a, b), c = (middle, last)
        *rest, d = [first, c]
        return a + b, rest[0] - d

    assert ops(f, BF16, BF16, BF16, BF16) == ["add", "subtract"]


def test_star_arguments_and_keywords_in_calls():
    def helper(a, b=1.0, *more, scale=2.0, **named):
        for extra in (*more, *named.values()):
            a = a + extra
        return a * b * scale

    def f(x):
        return helper(x, *(3.0, x), **{"scale": 4.0, "other": 5.0})

    assert ops(f, BF16) == ["add", 5.0, "add", 3.0, "multiply", 4.0, "multiply"]


def test_type_hints_and_annotations_are_not_evaluated():
    def f(x: ttnn.Tensor | None = None, *, n: int = 2) -> ttnn.Tensor:
        y: ttnn.Tensor = x * n
        z: int
        return y

    assert ops(f, BF16) == [2.0, "multiply"]


def test_comprehensions_keep_pythons_order_of_evaluation():
    def f(x):
        squares = [(x + i) ** 2 for i in range(3) if i != 1]
        lazily = sum(ttnn.exp(square) for square in squares)
        table = {name: op(lazily) for name, op in [("a", ttnn.neg), ("b", ttnn.abs)]}
        return table["a"] + table["b"]

    assert ops(f, BF16) == [
        0.0, "add", 2.0, "pow_tensor", 2.0, "add", 2.0, "pow_tensor",
        "exp", 0.0, "add", "exp", "add", "neg", "abs", "add",
    ]  # fmt: skip


def test_names_that_a_definition_binds_outside_itself_are_bound():
    def f(x):
        add = lambda y, k=(n := 3): y + k
        made = [lambda y, k=(m := i): y + k for i in range(2)]

        def shifted(y, by=(s := 2.0), *, more=(t := 4.0)):
            return y + by + more

        return shifted(add(x)) + (n + s + t) + sum(each(x) for each in made) + m

    assert ops(f, BF16) == [
        3.0, "add", 2.0, "add", 4.0, "add", 9.0, "add", 0.0, "add", 0.0, "add", 1.0, "add", "add", "add", 1.0, "add",
    ]  # fmt: skip


def test_nested_comprehensions_and_a_walrus():
    def f(x):
        terms = [y * j for i in range(2) for j in range(i + 1) if (y := x + i) is not None]
        return functools.reduce(operator.add, terms) + y

    assert ops(f, BF16) == [
        0.0, "add", 0.0, "multiply", 1.0, "add", 0.0, "multiply", 1.0, "add", 1.0, "multiply", "add", "add", "add",
    ]  # fmt: skip


def test_nested_functions_see_later_values_of_the_variables_around_them():
    def f(x):
        n = 1

        def inner(y, k=n):
            return y * n + k

        n = 7
        return inner(x)

    assert ops(f, BF16) == [7.0, "multiply", 1.0, "add"]


def test_a_function_defined_inside_with_a_decorator():
    def f(x):
        def twice(function):
            return lambda y: function(function(y))

        @twice
        def step(y):
            return ttnn.exp(y)

        return step(x)

    assert ops(f, BF16) == ["exp", "exp"]


def test_builtins_and_math_are_evaluated_at_compile_time():
    def f(x):
        pairs = sorted(zip([3, 1], "ba", strict=True), key=lambda pair: pair[0])
        n = max(len(pairs), *map(int, ["1", "0"])) + math.floor(math.pi)
        text = f"{n:>3}|{x.shape[0]!r}|{'a'.upper()}"
        return x * n if text == "  5|32|A" and isinstance(n, int) and any([0, n]) else x

    assert ops(f, BF16) == [5.0, "multiply"]


def test_itertools_operator_and_reduce_on_tensors():
    def f(x, y):
        terms = itertools.chain([x], itertools.islice([y, x], 1))
        return functools.reduce(lambda a, b: operator.mul(a, b), terms), sum([x, y])

    assert ops(f, BF16, BF16) == ["multiply", 0.0, "add", "add"]


def test_lists_dicts_and_sets_that_the_function_creates_may_change():
    def f(x):
        values = [1.0]
        values.append(2.0)
        values[0] = 5.0
        values += [3.0]
        del values[1]
        table = {"k": 0}
        table["k"] += 4
        table.update(j=1)
        for number in (*values, *table.values()):
            x = x + number
        return x

    assert ops(f, BF16) == [5.0, "add", 3.0, "add", 4.0, "add", 1.0, "add"]


def test_slices_and_negative_indices():
    def f(x, numbers):
        return x * sum(numbers[1:]) * numbers[-1] * numbers[::2][0]

    assert ops(f, BF16, (1.0, 2.0, 3.0)) == [5.0, "multiply", 3.0, "multiply", 1.0, "multiply"]


def test_a_helper_reads_its_own_module_and_is_inlined_with_the_call_that_led_there():
    def helper(x):
        return x * SCALE

    def f(x):
        return helper(ttnn.exp(x))

    _, result = both(f, BF16)
    multiply = list(result.module.body.block.first_op.body.block.ops)[3]
    assert [location.line.data for location in (multiply.location.callee, multiply.location.caller)] == [
        helper.__code__.co_firstlineno + 1,
        f.__code__.co_firstlineno + 1,
    ]


def test_another_jitted_function_is_inlined():
    @StandInJit
    def jitted(x, n=2):
        return ttnn.exp(x) * n

    assert ops(lambda x: jitted(jitted(x), n=3), BF16) == ["exp", 2.0, "multiply", "exp", 3.0, "multiply"]


def test_methods_properties_and_callable_objects():
    def f(x):
        return LAYER.forward(x) + LAYER(x)

    once = [1.5, "multiply", 3.0, "add"]
    assert ops(f, BF16) == [*once, *once, "add"]


class Counted:
    def __init__(self):
        self.__count = 2.0
        self.__count += 1.0

    def count(self):
        return self.__count


def test_private_attributes():
    assert ops(lambda x: x * Counted().count(), BF16) == [3.0, "multiply"]
    assert ops(lambda x: LAYER.private(x), BF16) == [7.0, "multiply"]


def test_wrapped_and_cached_functions():
    assert ops(wrapped, BF16) == [1.0, "add", 2.0, "multiply"]
    assert ops(lambda x: wrapped(x, y=3.0) * number_of_layers(2), BF16) == [
        3.0, "add", 2.0, "multiply", 2.25, "multiply",
    ]  # fmt: skip


def test_settings_enums_and_named_tuples():
    def f(x, mode=Mode.FAST):
        pair = Pair(x, right=SETTINGS.scale)
        if mode is Mode.FAST and Mode("exact") is Mode.EXACT:
            return pair.left * pair.right + SETTINGS.layers[1]
        return x

    assert ops(f, BF16) == [3.0, "multiply", 2.0, "add"]


def test_a_sum_of_a_thousand_terms_needs_no_thousand_frames():
    terms = " + ".join(["x"] * 1000)
    namespace: dict = {}
    text = f"def f(x):\n    return {terms}\n"
    import linecache

    linecache.cache["<long sum>"] = (len(text), None, text.splitlines(keepends=True), "<long sum>")
    exec(compile(text, "<long sum>", "exec"), namespace)
    assert len(ops(namespace["f"], BF16)) == 999


def test_a_call_on_several_lines_has_one_location_in_both_frontends():
    def f(x):
        y = ttnn.exp(x)
        return (x
                + y) * ttnn.add(
            x, y,
        )  # fmt: skip

    assert ops(f, BF16) == ["exp", "add", "add", "multiply"]


def test_columns_count_characters():
    def f(größe):
        ä = "ü" and ttnn.exp(größe); return ttnn.neg(ä)  # fmt: skip

    _, result = both(f, BF16)
    exp, neg, _ = result.module.body.block.first_op.body.block.ops
    assert (exp.location.column.data, neg.location.column.data) == (21, 45)


@pytest.mark.parametrize(
    ("returned", "structure"),
    [
        (lambda x: (x, x), (0, 1)),
        (lambda x: [x], [0]),
        (lambda x: {"a": x, "b": (x, [x])}, {"a": 0, "b": (1, [2])}),
        (lambda x: Pair(x, x), Pair(0, 1)),
        (lambda x: x, None),
    ],
)
def test_results_keep_their_structure(returned, structure):
    _, result = both(returned, BF16)
    assert result.output_structure == structure
    assert type(result.output_structure) is type(structure)


def test_tensors_in_nested_arguments_become_arguments_in_order():
    def f(tree, *rest, **named):
        return tree["a"] + tree["b"][0] + rest[0] + named["k"]

    text, _ = both(f, {"a": BF16, "b": [BF16, 3]}, BF16, k=F32)
    assert "(%arg0: tensor<32x32xbf16" in text
    assert "%arg3: tensor<32x32xf32" in text


def test_memory_config_is_ignored_with_one_warning():
    def f(x):
        return ttnn.exp(ttnn.neg(x, memory_config=x.memory_config()), memory_config=x.memory_config())

    text, result = both(f, BF16)
    assert text == both(lambda x: ttnn.exp(ttnn.neg(x)), BF16)[0].replace("@lambda", "@f")
    assert len(result.warnings) == 1
    assert "memory_config" in result.warnings[0]


def test_an_omitted_memory_config_causes_no_warning():
    assert lowered(lambda x: ttnn.exp(x, memory_config=None), BF16).warnings == ()


def test_deallocating_an_intermediate_does_nothing():
    def f(x):
        y = ttnn.exp(x)
        z = ttnn.neg(y)
        ttnn.deallocate(y)
        return z

    assert ops(f, BF16) == ["exp", "neg"]


def test_too_many_iterations_are_an_error():
    def f(x):
        return sum(i for i in range(10**9)) * x

    with pytest.raises(CompileError, match="65536 iterations"):
        lowered(f, BF16)
