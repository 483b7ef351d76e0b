from __future__ import annotations

import functools
import math
import operator
import subprocess
import sys
import types
from dataclasses import dataclass
from enum import Enum

import pytest

from ttnn_jit.foreign.values import ABSENT, NoStableIdentityError
from ttnn_jit.guards.fingerprints import fingerprint, fingerprint_code, read_fingerprint

SCALE = 0.5


class Color(Enum):
    RED = 1


@dataclass(frozen=True)
class Settings:
    scale: float
    names: tuple[str, ...] = ()


def helper(x):
    return x * SCALE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True), (1, 1.0), (0.0, -0.0), ("1", 1), (b"1", "1"), ((1,), [1]), (None, 0), ((), []), ({}, ()),
        ((1, (2,)), (1, 2)), ({"a": 1}, {"a": 1.0}), (Color.RED, 1), (math.sin, math.cos), (math, "math"),
        (Settings(1.0), Settings(1)), (int, float), ({1, 2}, {1, 3}), (ABSENT, None), (1j, 1), ("a,b", ("a", "b")),
    ],
)  # fmt: skip
def test_different_values_have_different_fingerprints(one, other):
    assert fingerprint(one) != fingerprint(other)


def test_equal_values_have_equal_fingerprints():
    assert fingerprint(float("nan")) == fingerprint(float("nan"))
    assert fingerprint(Settings(0.5, ("a",))) == fingerprint(Settings(0.5, ("a",)))
    assert fingerprint(functools.partial(helper, 1)) == fingerprint(functools.partial(helper, 1))
    assert fingerprint({1, 2, 3}) == fingerprint({3, 2, 1})


def class_from(text):
    namespace = {"__name__": "written"}
    imports = "from dataclasses import dataclass\nfrom enum import Enum\nfrom typing import NamedTuple\n"
    exec(compile(imports + text, "<string>", "exec", dont_inherit=True), namespace)
    return namespace["C"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("class C(Enum):\n  A = 1", "class C(Enum):\n  A = 2"),
        ("class C(NamedTuple):\n  a: int = 1", "class C(NamedTuple):\n  a: int = 2"),
        ("@dataclass\nclass C:\n  a: int = 1", "@dataclass\nclass C:\n  a: int = 2"),
        ("@dataclass\nclass C:\n  a: int = 1", "@dataclass(frozen=True)\nclass C:\n  a: int = 1"),
    ],
)
def test_classes_with_one_name_and_different_content_are_distinguished(one, other):
    assert fingerprint(class_from(one)) != fingerprint(class_from(other))


def test_members_with_one_name_and_different_values_are_distinguished():
    members = [class_from(f"class C(Enum):\n  A = {value}").A for value in (1, 2)]
    assert fingerprint(members[0]) != fingerprint(members[1])


class Plain:
    pass


@dataclass
class WithMethod:
    scale: float

    def doubled(self):
        return self.scale * 2


@pytest.mark.parametrize("cls", [Plain, WithMethod])
def test_a_class_with_user_code_has_no_fingerprint(cls):
    with pytest.raises(NoStableIdentityError):
        fingerprint(cls)


def function_from(text):
    namespace = {}
    exec(text, namespace)
    return namespace["f"]


def test_functions_are_fingerprinted_by_code_and_defaults_and_not_by_location():
    f = function_from("def f(x, k=1):\n    return x + 1\n")
    moved = function_from("\n\n\ndef f(x, k=1):\n    return x + 1\n")
    edited = function_from("def f(x, k=1):\n    return x + 1.0\n")
    default = function_from("def f(x, k=2):\n    return x + 1\n")
    assert fingerprint(f) == fingerprint(moved)
    assert len({fingerprint(g) for g in (f, edited, default)}) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "True"), ("0.0", "-0.0"), ("(1, 2)", "(1, 2.0)"), ("x in {1}", "x in {1.0}"), ("lambda: 1", "lambda: 2")],
)
def test_constants_in_code_are_distinguished_by_type_and_bits(one, other):
    codes = [function_from(f"def f(x):\n    return {text}\n").__code__ for text in (one, other)]
    assert fingerprint_code(codes[0]) != fingerprint_code(codes[1])


def test_a_container_that_holds_itself_has_a_fingerprint():
    loop = [1]
    loop.append(loop)
    assert "<cycle>" in fingerprint(loop)


@pytest.mark.parametrize("value", [object(), types.SimpleNamespace(a=1), iter([])], ids=lambda v: type(v).__name__)
def test_values_that_another_process_could_not_recognise_have_no_fingerprint(value):
    with pytest.raises(NoStableIdentityError):
        fingerprint(value)


@pytest.mark.process
def test_another_process_computes_the_same_fingerprints():
    text = (
        f"import sys; sys.path.insert(0, {sys.path[0]!r}); import math, tests.unit.guards.test_fingerprints as t\n"
        "from ttnn_jit.guards.fingerprints import fingerprint\n"
        "print(fingerprint((t.helper, t.Settings(0.5, ('a',)), {'x', 'y', 'z'}, math, t.Color.RED)))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", text],
            capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(runs) == 1


def test_reads_of_an_object_are_named_by_its_class_and_of_a_numpy_function_by_its_name():
    import numpy

    assert read_fingerprint(Settings(0.5, ("a",))) == read_fingerprint(Settings(1.5, ("b",)))
    assert read_fingerprint(numpy.fmin) != read_fingerprint(numpy.fmax)
    assert read_fingerprint(operator.methodcaller("f", 1)) != read_fingerprint(operator.methodcaller("f", 2))
