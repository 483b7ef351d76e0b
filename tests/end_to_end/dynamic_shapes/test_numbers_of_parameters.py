"""A number that changes, as the argument of any parameter of any operation, needs few compiles.

The walk is over all declarations, so that a new operation is tested, or is listed here with its reason.
"""

import linecache

import pytest
import torch

import ttnn_jit
from tests.argument_walk import arguments_of_declaration, functions
from tests.host_calls import made
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.frontend.unsupported import UnsupportedFunction
from ttnn_jit.ops.language.kinds import BoolKind, FloatKind, FloatsKind, IntKind, NumberKind, TensorKind

pytestmark = pytest.mark.filterwarnings("ignore:.* compile", "ignore:.* was compiled")

MOST_COMPILES = 3
VALUES = 8
FIXED = {
    ("round", "decimals"): "the sign chooses between a product and a quotient, and there are 21 values",
    ("polygamma", "k"): "the order is the number of terms of a loop",
    ("polygamma_bw", "n"): "the order is the number of terms of a loop",
}
"""Parameters each of whose values has a program of its own."""
POWERS = {"pow", "rpow", "norm", "pow_bw", "rpow_bw"}
"""Functions whose numbers have programs of their own with numba: LLVM replaces libm's powers by other functions for
some constants, so that a number which is loaded might give other bits."""


def numbers_of(operation):
    """The parameters of a declaration that take numbers to compute with."""
    for parameter in operation.parameters:
        kind = parameter.kind
        takes = isinstance(kind, (FloatKind, NumberKind, FloatsKind)) and not isinstance(kind, BoolKind)
        if takes or (isinstance(kind, TensorKind) and kind.or_number):
            yield parameter


CASES = {
    f"{name}#{index} {parameter.name}": (name, operation, parameter)
    for name, function in functions().items()
    if not name.endswith("_")
    for index, operation in enumerate(function.__ttnn_overloads__)
    for parameter in numbers_of(operation)
}
ANY_CASE = pytest.mark.parametrize("case", CASES)


def values_of(operation, parameter, given):
    """Numbers that are ordinary: none of them folds."""
    if isinstance(parameter.kind, IntKind):
        return [*parameter.kind.values][-VALUES:]
    if isinstance(parameter.kind, FloatsKind):
        return [tuple(0.37 + 0.011 * k + 0.3 * index for index, _ in enumerate(given)) for k in range(VALUES)]
    if not any(dtype.name.startswith(("F", "BF")) for dtype in operation.dtypes):
        return [*range(3, 3 + VALUES)]
    about = given if isinstance(given, float) and given not in {0.0, 1.0, -1.0} and abs(given) < 1e30 else 0.6
    return [about + abs(about) * 0.013 * (k + 1) for k in range(VALUES)]


def call_of(case, device):
    """A function that makes the tensors and other arguments of a call, and its numbers."""
    _, operation, parameter = CASES[case]
    base = next(iter(arguments_of_declaration(operation)))
    others = {key: value for key, value in base.items() if key != parameter.name}

    def made_anew():  # some operations write their operands
        return {key: made(value, device) for key, value in others.items()}

    return made_anew, values_of(operation, parameter, base.get(parameter.name, parameter.default))


def in_a_function(case, names):
    """A function of the other arguments and of the number that calls the operation."""
    name, _, parameter = CASES[case]
    given = ", ".join(f"{key}=others[{index}]" for index, key in enumerate(names))
    text = f"def call(others, number):\n    return ttnn.{name}({given}, {parameter.name}=number)\n"
    file, scope = f"<{case}>", {"ttnn": ttnn}
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), scope)
    return scope["call"]


def bits(found):
    listed = found if isinstance(found, (list, tuple)) else [found]
    return [ttnn.to_torch(each).flatten().view(torch.uint8).numpy().tobytes() for each in listed]


def most_compiles(case, backend="ttnn"):
    name, _, parameter = CASES[case]
    is_fixed = (name, parameter.name) in FIXED or (backend == "numba" and name in POWERS)
    return VALUES if is_fixed else MOST_COMPILES


@ANY_CASE
def test_a_number_in_an_eager_call_needs_few_compiles(case, cpu_device):
    others, values = call_of(case, cpu_device)
    name, _, parameter = CASES[case]
    function = functions()[name]
    try:
        function(**others(), **{parameter.name: values[0]})
    except TtnnJitError:
        pytest.skip("the walk has no arguments that fit this operation")
    before = ttnn_jit.cache_info().compiles
    for value in values[1:]:
        function(**others(), **{parameter.name: value})
    assert ttnn_jit.cache_info().compiles - before < most_compiles(case)


@pytest.mark.parametrize("backend", ["ttnn", "numba"])
@ANY_CASE
def test_a_number_in_a_jitted_function_needs_few_compiles_and_has_the_bits_of_a_cold_one(case, backend, cpu_device):
    others, values = call_of(case, cpu_device)
    function = in_a_function(case, others())
    generic = ttnn_jit.jit(enable_cache=False, backend=backend)(function)
    cold = ttnn_jit.jit(enable_cache=False, backend=backend, dynamic=False)(function)
    before = ttnn_jit.cache_info().compiles
    numbers = values[: VALUES if backend == "ttnn" else MOST_COMPILES + 1]
    try:
        found = [bits(generic([*others().values()], value)) for value in numbers]
    except UnsupportedFunction:
        pytest.skip("functions do not call it")
    except TtnnJitError:
        pytest.skip("the walk has no arguments that fit this operation")
    assert ttnn_jit.cache_info().compiles - before <= most_compiles(case, backend)
    for index in (1, 2):
        assert found[index] == bits(cold([*others().values()], numbers[index])), numbers[index]


ACTIVATIONS = {
    "of a result": lambda x, act: ttnn.add(x, x, activations=[act]),
    "of several": lambda x, act: ttnn.multiply(x, 2.5, activations=[act, "relu"], input_tensor_a_activations=[act]),
    "of a product": lambda x, act: ttnn.matmul(x, x, activation=act),
    "of a linear function": lambda x, act: ttnn.linear(x, x, activation=act),
}
KINDS = (ttnn.UnaryOpType.LEAKY_RELU, ttnn.UnaryOpType.ELU)
NUMBERS = [0.03 + 0.11 * k for k in range(VALUES)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ACTIVATIONS)
def test_a_number_of_an_activation_needs_few_compiles(place, kind, cpu_device):
    call, generator = ACTIVATIONS[place], torch.Generator().manual_seed(0)
    x = ttnn.from_torch(torch.randn(33, 33, generator=generator), layout=ttnn.TILE_LAYOUT, device=cpu_device)

    def function(x, number):
        return call(x, ttnn.UnaryWithParam(kind, number))

    generic = ttnn_jit.jit(enable_cache=False)(function)
    cold = ttnn_jit.jit(enable_cache=False, dynamic=False)(function)
    for calls in (generic, function):
        before = ttnn_jit.cache_info().compiles
        found = [bits(calls(x, number)) for number in NUMBERS]
        assert ttnn_jit.cache_info().compiles - before <= MOST_COMPILES
        assert all(found[index] == bits(cold(x, NUMBERS[index])) for index in (1, 2, 7))


def test_parameters_that_are_fixed_exist():
    assert {*FIXED} <= {(name, parameter.name) for name, _, parameter in CASES.values()}
