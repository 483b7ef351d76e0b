"""One table lists the functions of compile time, and a call that Python refuses has Python's message."""

from __future__ import annotations

import copy
import types

import pytest

from tests.unit.frontend.stand_in import BF16, lowered, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.foreign.values import is_python_class
from ttnn_jit.frontend.calls.code_scan import is_known_in_a_trace
from ttnn_jit.frontend.calls.python_functions import FUNCTIONS, METHODS, is_pure


class Thing:
    pass


THING = Thing()
NAMES = [f"{function.__module__}.{function.__qualname__}" for function in FUNCTIONS]
EVERY_FUNCTION = pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)


@EVERY_FUNCTION
def test_functions_that_the_interpreter_calls_may_be_called_in_a_trace(function):
    assert is_pure(function)
    is_scanned = isinstance(function, types.FunctionType) or (isinstance(function, type) and is_python_class(function))
    assert is_known_in_a_trace(function) or is_scanned


@pytest.mark.parametrize("other", [eval, exec, open, input, print, globals, vars, id, hash, object, super, property])
def test_functions_outside_the_table_may_not_be_called_in_either(other):
    assert not is_pure(other)
    assert not is_known_in_a_trace(other)


def refused_by_python(function, arguments, keywords):
    try:
        function(*arguments, **keywords)
    except Exception as error:  # noqa: BLE001 - whatever Python raises is compared
        return type(error).__name__
    return None


@pytest.mark.parametrize("arguments", [[], [THING], [THING] * 9], ids=len)
@pytest.mark.parametrize("keywords", [{}, {"no_such_keyword": 1}], ids=["", "keyword"])
def test_arguments_that_python_refuses_are_refused_at_the_call_with_pythons_message(arguments, keywords):
    def program(x):
        function(*arguments, **keywords)
        return x

    for function in FUNCTIONS:
        raised = refused_by_python(function, arguments, keywords)
        if raised is None:
            assert lowered(program, BF16).module
            continue
        with pytest.raises(CompileError, match=raised) as caught:
            lowered(program, BF16)
        assert caught.value.location.line == program.__code__.co_firstlineno + 1


SAMPLES = {list: [3, 1, 2], dict: {3: 1, 4: 2}, set: {3, 1}}
GIVEN = ([], [0], [3], [0, 0], [[0]], [{3: 5}], [{3}], [{7}])


def changes(kind, name, given):
    sample = copy.copy(SAMPLES[kind])
    refused_by_python(getattr(sample, name), copy.deepcopy(given), {})
    return repr(sample) != repr(SAMPLES[kind])


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_methods_that_change_a_container_are_listed(kind):
    for name in set(dir(kind)) - set(dir(object)) - {"__class_getitem__"}:
        known = name in METHODS and METHODS[name].changes
        assert known is any(changes(kind, name, given) for given in GIVEN), name


class Denying(type):
    def __instancecheck__(cls, value):
        return False


class Denied(metaclass=Denying):
    pass


class Further(Denied):
    pass


DENIED, FURTHER = Denied(), Further()


@pytest.mark.parametrize("value", ["DENIED", "FURTHER"])
def test_isinstance_of_the_exact_class_ignores_the_metaclass(value):
    program = eval(f"lambda x: ttnn.exp(x) if isinstance({value}, Denied) else x", {**globals(), "ttnn": ttnn})
    text = str(lowered(program, BF16, graph_capture=None).module)
    assert ("ttnn.exp" in text) is isinstance(globals()[value], Denied)
