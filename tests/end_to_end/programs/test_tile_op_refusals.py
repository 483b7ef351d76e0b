"""What `tile_op` refuses: at the decorator what no call could change, else at the first call; where, with carets."""

# ruff: noqa: F821, PLR0402, PLW0603, PTH123, T201 - what is refused
from __future__ import annotations

import ctypes
import datetime
import inspect
import logging
import math
import os
import random
import time
import traceback
from datetime import date
from random import random as drawn

import numpy as np
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError

SEEN = [1.0]
STATE = {"calls": 0.0}
TOTAL = 0.0
LOG = logging.getLogger("tile operations")


DRAW = random.Random(3)
GENERATOR = np.random.default_rng(3)
INTERVAL = datetime.timedelta(seconds=3).total_seconds()


def time_of_flight(x):
    return 2 * x


class Settings:
    scale = 2.0
    random = 3.0


SETTINGS = Settings()


# --- At the decorator -----------------------------------------------------------------------------------------------


def imports(x):
    import cmath  # here

    return x * cmath.pi


def imports_a_name(x):
    from math import tanh  # here

    return tanh(x)


def imports_in_a_branch(x):
    if x > 1:
        import os.path as path  # here

        return len(path.sep) * x
    return x


def imports_in_a_function_inside(x):
    def inner(y):
        import math as m  # here

        return m.exp(y)

    return inner(x)


def sets_a_global(x):
    global TOTAL
    TOTAL = x  # here
    return x


def deletes_a_global(x):
    global TOTAL
    del TOTAL  # here
    return x


def sets_an_attribute(x):
    SETTINGS.scale = 3.0  # here
    return x


def deletes_an_attribute(x):
    del SETTINGS.scale  # here
    return x


def prints(x):
    print(x)  # here
    return x


def stops(x):
    y = math.exp(x)
    breakpoint()  # here
    return y


def with_a_count():
    count = 0

    def counts(x):
        nonlocal count
        count = count + 1  # here
        return x

    return counts


def generates(x):  # here
    yield x


async def waits(x):  # here
    return x


def draws_a_number(x):
    return x * random.random()  # here


def draws_by_a_name(x):
    return drawn() if x > 0 else x  # here


def draws_of_numpy(x):
    return np.random.rand() * x  # here


def draws_of_an_object(x):
    return x + DRAW.uniform(0.0, 1.0)  # here


def draws_of_a_generator(x):
    return x + GENERATOR.random()  # here


def asks_the_clock(x):
    y = x + 1
    return y * time.perf_counter()  # here


def asks_the_date(x):
    return x + datetime.datetime.now().second  # here


def asks_the_date_by_a_class(x):
    return x + date.today().day  # here


def asks_for_bytes(x):
    return x + os.urandom(1)[0]  # here


def with_a_clock():
    clock = time.monotonic

    def asks_a_clock_around(x):
        return [x + clock() for _ in (1, 2)][0]  # here  # noqa: RUF015

    return asks_a_clock_around


_CHANGING = "returns another value at each call, and would be called once, when the operation is compiled"
_BEFORE = "make the values before the call, and pass them as an operand"
CHANGING = {
    draws_a_number: "random.random", draws_by_a_name: "drawn", draws_of_numpy: "np.random.rand",
    draws_of_an_object: "DRAW.uniform", draws_of_a_generator: "GENERATOR.random", asks_the_clock: "time.perf_counter",
    asks_the_date: "datetime.datetime.now", asks_the_date_by_a_class: "date.today", asks_for_bytes: "os.urandom",
    with_a_clock(): "clock",
}  # fmt: skip

AT_THE_DECORATOR = [
    *((function, called, f"`{called}` {_CHANGING}", _BEFORE) for function, called in CHANGING.items()),
    (imports, "import cmath", "`import` cannot be compiled", "import at the top of the file"),
    (imports_a_name, "from math import tanh", "`import` cannot be compiled", "import at the top of the file"),
    (imports_in_a_branch, "import os.path as path", "`import` cannot be compiled", "import at the top of the file"),
    (imports_in_a_function_inside, "import math as m", "`import` cannot be compiled", "import at the top of the file"),
    (sets_a_global, "TOTAL", "changes something outside itself", "return the value"),
    (deletes_a_global, "TOTAL", "changes something outside itself", "return the value"),
    (sets_an_attribute, "SETTINGS.scale", "changes something outside itself", "return the value"),
    (deletes_an_attribute, "SETTINGS.scale", "changes something outside itself", "return the value"),
    (with_a_count(), "count", "changes something outside itself", "return the value"),
    (prints, "print", "`print` would act once", "call the operation on floats: there it is the function itself"),
    (stops, "breakpoint", "`breakpoint` would act once", "call the operation on floats: there it is the"),
    (generates, "def generates(x):", "is a generator", "collect results"),
    (waits, "async def waits(x):", "is an `async def`", "write it with `def`"),
]


@pytest.mark.parametrize(
    ("function", "marked", "message", "instead"), AT_THE_DECORATOR, ids=lambda v: getattr(v, "__name__", "")
)
def test_what_no_call_could_change_is_refused_by_the_decorator_with_carets(function, marked, message, instead):
    with pytest.raises(CompileError) as refused:
        ttnn_jit.tile_op(function)
    assert_points_at(refused.value, function, marked)
    assert message in refused.value.message
    assert f"tile operation `{function.__name__}`" in refused.value.message
    assert instead in refused.value.help
    assert {frame.filename for frame in traceback.extract_tb(refused.value.__traceback__)} == {__file__}


def assert_points_at(error, function, marked=None):
    """The text shows the line of `function` that says ``# here``, with carets under `marked`."""
    lines, first = inspect.getsourcelines(function)
    at = next((number for number, line in enumerate(lines) if "# here" in line), 0)
    shown = str(error).splitlines()[1:3]
    assert error.location.file == __file__
    assert error.location.line == first + at
    assert shown[0] == f"{first + at:>5} | {lines[at].rstrip()}"
    if marked is not None:
        start = shown[1].index("^")
        assert shown[0][start : start + shown[1].count("^")].partition("  #")[0] == marked


# --- At the first call ----------------------------------------------------------------------------------------------


def helper_that_imports(x):
    import math as m  # here

    return m.exp(x)


def calls_a_helper_that_imports(x):
    return helper_that_imports(x)


def helper_that_prints(x):
    print(x)
    return x


def calls_a_helper_that_prints(x):
    return 2 * helper_that_prints(x)


def raises(x):
    if int(x) > 1:
        raise ValueError(x)  # here
    return x


def raises_beyond(x):
    if x > 100:
        raise ValueError("large")  # here
    return x


def appends(x):  # here
    SEEN.append(x)
    return x


def counts_in_a_dict(x):  # here
    STATE["calls"] += 1
    return x


def defines_a_class(x):
    n = int(x)

    class Inner:  # here
        pass

    return x * n


def enters_a_context(x):
    n = int(x)
    with open(os.devnull) as file:
        return x * n + len(file.name)


def recurses(x):
    return 1.0 if int(x) < 1 else x * recurses(x - 1)


def makes_a_dict(x):
    found = {int(x): x}
    return found[int(x)]


def makes_a_list(x):
    return [1.0, 2.0, 3.0][int(x)]


SINE = ctypes.CDLL(None).sin
SINE.restype, SINE.argtypes = ctypes.c_double, [ctypes.c_double]


def calls_an_address(x):
    return SINE(int(x))


def draws(x):
    draw = np.random
    return int(x) * draw.random()


def returns_a_pair(x):
    return x, int(x)


def returns_nothing(x):
    int(x)


def asks_the_system(x):
    return os.getpid() + int(x)  # here


def a_name_that_is_not_there(x):
    return int(x) + absent_name


def calls_a_helper_that_draws(x):
    return x + draws_a_number(x)


def draws_what_is_imported_later(x):
    return x * later.gauss(0.0, 1.0)  # here


AT_THE_FIRST_CALL = [
    (calls_a_helper_that_draws, draws_a_number, "random.random", f"`random.random` {_CHANGING}"),
    (calls_a_helper_that_imports, helper_that_imports, "import math as m", "`import` cannot be compiled"),
    (raises, raises, "raise ValueError(x)", "raises an exception, which an element of a tensor cannot"),
    (raises_beyond, raises_beyond, 'raise ValueError("large")', "raises an exception"),
    (appends, appends, None, "changes something outside itself"),
    (counts_in_a_dict, counts_in_a_dict, None, "changes something outside itself"),
    (asks_the_system, asks_the_system, None, "nor compiled by numba: Unknown attribute 'getpid'"),
]
IN_SOME_LINE = [
    (defines_a_class, "nor compiled by numba: Use of unsupported opcode"),
    (enters_a_context, "nor compiled by numba: The 'with (context manager) as"),
    (recurses, "it calls itself"),
    (calls_a_helper_that_prints, "because it calls `print`, nor compiled by numba: it needs the Python interpreter"),
    (makes_a_dict, "needs Python's memory management"),
    (makes_a_list, "needs Python's memory management"),
    (draws, "needs a part of numba's runtime"),
    (calls_an_address, "needs an address of this process"),
    (returns_a_pair, "which is no number"),
    (returns_nothing, "nor compiled by numba"),
    (a_name_that_is_not_there, "name 'absent_name' is not defined"),
]
ON = {
    "eager": lambda operation, x: operation(x),
    "jitted": lambda operation, x: ttnn_jit.jit(lambda x: operation(x))(x),
    "numba": lambda operation, x: ttnn_jit.jit(backend="numba")(lambda x: operation(x))(x),
    "traced": lambda operation, x: ttnn_jit.jit(graph_capture=True)(lambda x: operation(x))(x),
}


@pytest.fixture
def x(cpu_device):
    return ttnn.from_torch(torch.full((2, 2), 1.5), device=cpu_device)


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("way", ON)
@pytest.mark.parametrize(
    ("function", "fault", "marked", "message"), AT_THE_FIRST_CALL, ids=lambda v: getattr(v, "__name__", "")
)
def test_what_only_its_body_shows_is_refused_at_the_line_of_the_body(function, fault, marked, message, way, x):
    error = refused_at_a_call(function, way, x)
    assert_points_at(error, fault, marked)
    assert message in error.message


@pytest.mark.parametrize("way", ON)
@pytest.mark.parametrize(("function", "message"), IN_SOME_LINE, ids=lambda v: getattr(v, "__name__", ""))
def test_what_numba_refuses_is_an_error_of_a_few_lines_in_the_body(function, message, way, x, capsys):
    error = refused_at_a_call(function, way, x)
    assert capsys.readouterr().out == ""
    lines, first = inspect.getsourcelines(function)
    assert error.location.file == __file__
    assert first <= error.location.line < first + len(lines)
    assert message in error.message
    assert "nopython" not in error.message


def refused_at_a_call(function, way, x):
    operation = ttnn_jit.tile_op(function)
    for _ in range(2):  # and again, not only the first time
        with pytest.raises(CompileError) as refused:
            ON[way](operation, x)
    text = "".join(traceback.format_exception(refused.value))
    assert len(text.splitlines()) < 30
    assert "numba/core" not in text
    return refused.value


@pytest.mark.parametrize("way", ON)
def test_random_numbers_that_a_module_imports_below_are_refused_at_the_first_call(way, x, monkeypatch):
    operation = ttnn_jit.tile_op(draws_what_is_imported_later)
    monkeypatch.setitem(globals(), "later", random)
    with pytest.raises(CompileError, match=r"`later\.gauss` returns another value at each call") as refused:
        ON[way](operation, x)
    assert_points_at(refused.value, draws_what_is_imported_later, "later.gauss")


def test_what_only_looks_like_a_clock_is_compiled(x):
    def function(x):
        return x * INTERVAL + time_of_flight(x) + SETTINGS.random

    assert ttnn_jit.tile_op(function)(x).to_torch().tolist() == [[10.5, 10.5]] * 2


@pytest.fixture
def restored(monkeypatch):
    monkeypatch.setitem(STATE, "calls", 0.0)
    yield
    del SEEN[1:]
