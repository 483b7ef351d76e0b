"""User-defined special methods that C code calls on an operand are recorded, for all functions and operators.

The rule is one for all of them: a program is opaque, or its guard sees that the code behind the method reads something
else; and what C makes of the method's answer is what it makes of it in Python, an exception included.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import math
import operator
import types

import numpy as np
import pytest

from tests.unit.frontend.special_method_forms import ANSWERS, METHODS
from tests.unit.frontend.stand_in import BF16, lowered
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.guards.reads import compile_guard

BASES = {
    "": "C()",
    "float": "C(2.0)",
    "list": "C([1])",
    "dict": "C(k=1)",
    "type": "C('Made', (), {})",
    "functools.partial": "C(max, 1)",
}
PARAMETERS = {
    **dict.fromkeys(("__eq__", "__format__", "__lt__", "__mul__", "__rmul__", "__radd__", "__contains__"), ", other"),
    **dict.fromkeys(("__getitem__", "__getattr__"), ", key"),
    **dict.fromkeys(("__call__", "__round__"), ", *args"),
}
BESIDE = {
    "__eq__": "def __hash__(self): return 1",
    "__lt__": "__gt__ = __lt__",
    "__hash__": "def __eq__(self, other): return True",
}
"""Other members of the class, by special method."""

CLASS = """\
G = 2
class C({base}):
    def {name}(self{parameters}): {body}
    {beside}
v = {made}
"""
BESIDE_IT = """\
class Compared:
    def __lt__(self, other): return v
    __gt__ = __le__ = __eq__ = __lt__
    def __hash__(self): return 1
class Containing:
    def __contains__(self, other): return v
class Numbered:
    def __index__(self): return G
    def __repr__(self): return "N"
LIST, FLOAT, TEXT = [1, 2, 3, 1], type("F", (float,), {})(2.12345), type("T", (str,), {})("111")
NUMBERED, NUMPY = Numbered(), np.float32(2.0)
RETURNS, CONTAINS, WRAPPED = Compared(), Containing(), types.SimpleNamespace(v=v)
def inserted(l, v): l.insert(v, 7); return l
def extended(l, v): l.extend(v); return l
def stored(l, v): l[v] = 9; return l
def deleted(l, v): del l[v]; return l
def sliced(l, v): l[v:] = []; return l
def replaced(l, v): l[0:1] = v; return l
def repeated(l, v):
    k = l
    l *= v
    return k
def grown(l, v):
    k = l
    l += v
    return k
def unpacked(v): a, b = v; return a
def asserted(v): return 1 if v else 2
def while_it(v):
    n = 0
    while v and n < 3: n += 1
    return n
"""
PROGRAM = "def program{}(x): return x * (int.from_bytes(str({}).encode(), 'big') % 999983)\n"
_numbers = itertools.count()


def compiled_text(text, file):
    """The code of a source text, which the compiler finds by its file name."""
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return compile(text, file, "exec")


@functools.cache
def code_beside_the_class(name):
    """The part of modules beside the class, the same for each method: its source is read once."""
    expressions = [text.strip() for text in METHODS[name][1].split(";;")]
    programs = "".join(itertools.starmap(PROGRAM.format, enumerate(expressions)))
    return expressions, compiled_text(BESIDE_IT + programs, f"<special methods, {name!r}>")


class World:
    """A module with a class that has a special method, and programs in which C calls it."""

    def __init__(self, name, body, base=""):
        parameters, beside = PARAMETERS.get(name.strip(), ""), BESIDE.get(name, "")
        text = CLASS.format(base=base, name=name, parameters=parameters, body=body, beside=beside, made=BASES[base])
        self.name = name.strip()
        self.space = {module.__name__: module for module in (functools, itertools, math, operator, types)}
        self.space |= {"__name__": "special_methods", "np": np}
        exec(compiled_text(text, f"<special methods {next(_numbers)}>"), self.space)
        self.expressions, code = code_beside_the_class(name)
        exec(code, self.space)

    def without_method(self):
        """Removes the method from the class; returns it."""
        method = getattr(self.space["C"], self.name)
        delattr(self.space["C"], self.name)
        return method

    def programs(self):
        return [(text, self.space[f"program{number}"]) for number, text in enumerate(self.expressions)]

    def python_says(self, program, number=2):
        """The factor of the program in Python; the class of the exception that it raises."""
        self.space["G"] = number
        try:
            return program(Multiplied())
        except Exception as error:  # noqa: BLE001 - whatever Python raises is compared
            return type(error)

    def other_number(self, program):
        """A number in place of `G` that changes the result of the program; None if there is none."""
        first = self.python_says(program)
        says = {number: self.python_says(program, number) for number in (3, 5, 0)}
        self.space["G"] = 2
        others = (number for number, said in says.items() if said != first and not isinstance(said, type))
        return None if isinstance(first, type) else next(others, None)


class Multiplied:
    """Represents the tensor in Python's own run."""

    def __mul__(self, other):
        return other


@pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("base", ["", "float", "list", "type", "functools.partial"])
@pytest.mark.parametrize("name", METHODS)
def test_methods_that_c_code_calls_on_an_operand_are_recorded(base, name, graph_capture):
    if graph_capture and base:
        return  # it records as the other does
    world = World(name, METHODS[name][0], base)
    assert [text for text, program in world.programs() if is_missed(world, program, graph_capture)] == []


def is_missed(world, program, graph_capture=False):
    """Whether a guard holds although Python's result has changed."""
    other = world.other_number(program)
    result = None if other is None else compiled(program, graph_capture)
    if result is None or result.opaque:
        return False
    guard = compile_guard(program, result.reads)
    assert guard()
    world.space["G"] = other
    believed = guard()
    world.space["G"] = 2
    return believed


WRAPPERS = {
    "lru_cache": functools.lru_cache(maxsize=0),
    "partialmethod": functools.partialmethod,
    "classmethod": classmethod,
    "staticmethod": lambda method: staticmethod(functools.partial(method, None)),
    "partial": lambda method: functools.partial(method, None),
    "bound method": lambda method: types.MethodType(method, "itself"),
    "property": lambda method: property(lambda self: functools.partial(method, self)),
}


@pytest.mark.parametrize("base", ["float", "list"])
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_methods_that_are_no_plain_functions_are_recorded_too(wrapper, base):
    missed = []
    for name, (body, _) in METHODS.items():
        world = World(name, body, base)
        method = WRAPPERS[wrapper](world.without_method())
        setattr(world.space["C"], world.name, method)
        some = world.programs()[list(WRAPPERS).index(wrapper) % 3 :: 3]
        missed += [text for text, program in some if is_missed(world, program)]
    assert missed == []


@pytest.mark.parametrize("base", ["float", "list", "dict"])
@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_is_added_to_a_class_later_is_detected(base, name):
    world, missed = World(name, METHODS[name][0], base), []
    method = world.without_method()
    for text, program in world.programs():
        first, result = world.python_says(program), compiled(program)
        if result is None or result.opaque:
            continue
        guard = compile_guard(program, result.reads)
        setattr(world.space["C"], world.name, method)
        if any(world.python_says(program, number) != first and guard() for number in (2, 3, 0)):
            missed.append(text)
        world.without_method()
    assert missed == []


def compiled(program, graph_capture=False):
    """The program's module; None if it is refused."""
    try:
        return lowered(program, BF16, graph_capture=graph_capture)
    except CompileError:
        return None


def test_most_of_these_expressions_call_methods_and_their_programs_are_kept():
    worlds = [World(name, body) for name, (body, _) in METHODS.items()]
    asked = [program for world in worlds for _, program in world.programs() if world.other_number(program) is not None]
    kept = [result for result in map(compiled, asked) if result is not None and not result.opaque]
    assert len(asked) > 0.9 * sum(len(world.expressions) for world in worlds)
    assert len(kept) > 0.6 * len(asked)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ANSWERS)
def test_conversions_of_results_of_methods_are_those_of_python(name):
    wrong = []
    for answer in ANSWERS[name]:
        world = World(name, f"return {answer}")
        for text, program in world.programs():
            result, expected = compiled(program), world.python_says(program)
            if result is not None and multiplied_by(result) != expected:
                wrong.append((text, answer, expected))
    assert wrong == []


def multiplied_by(result):
    """The factor of a program."""
    return next(op.properties["fill_value"].value.data for op in result.module.walk() if op.name == "ttnn.full")
