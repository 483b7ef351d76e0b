"""Both frontends produce one text for straight-line and unrolled code, locations included."""

from __future__ import annotations

import functools
import linecache
import math
import random
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.frontend.stand_in import BF16, CPU, F32, WORMHOLE, StandInJit, lowered, ttnn
from ttnn_jit.dialects import print_module
from ttnn_jit.guards.reads import compile_guard
from ttnn_jit.ops import operations_on
from ttnn_jit.specs.dtypes import FLOATS

UNARY = sorted({o.name for o in operations_on(FLOATS) if o.arity == 1 and not o.attributes})
BINARY = sorted({o.name for o in operations_on(FLOATS) if o.arity == 2})
SCALE = 1.5
LAYERS = [0.5, 2.0]


def helper(x, y=2.0):
    return ttnn.add(x, y) * SCALE


@StandInJit
def jitted(x):
    return ttnn.exp(-x)


class ProgramWriter:
    """Writes a random function, statement by statement, from the draws."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.tensors = ["a", "b"]
        self.names = count()

    def program(self) -> str:
        for _ in range(self.draw.randint(1, 6)):
            self.statement("    ")
        returned = ", ".join(self.draw.sample(self.tensors, self.draw.randint(1, len(self.tensors))))
        return "def program(a, b, n=2):\n" + "\n".join(self.lines) + f"\n    return {returned}\n"

    def statement(self, indent: str) -> None:
        kinds = [self.assignment, self.augmented, self.unpacking, self.loop, self.branch, self.comprehension]
        kinds += [self.nested_function] if len(indent) == 4 else []
        self.draw.choice(kinds)(indent)

    def assignment(self, indent: str) -> None:
        name = f"v{next(self.names)}"
        self.lines.append(f"{indent}{name} = {self.tensor(3)}")
        if len(indent) == 4:
            self.tensors.append(name)

    def augmented(self, indent: str) -> None:
        operator = self.draw.choice(["+", "-", "*", "/"])
        self.lines.append(f"{indent}{self.draw.choice(self.tensors)} {operator}= {self.operand(2)}")

    def unpacking(self, indent: str) -> None:
        one, other = self.draw.choice(self.tensors), self.draw.choice(self.tensors)
        rest = f"v{next(self.names)}"
        self.lines.append(f"{indent}{one}, *{rest} = {self.tensor(2)}, {self.tensor(1)}, {self.number()}")
        self.lines.append(f"{indent}{other} = {rest}[0] + {rest}[-1]")

    def loop(self, indent: str) -> None:
        variable = f"i{next(self.names)}"
        self.lines.append(f"{indent}for {variable} in range({self.draw.randint(0, 3)}):")
        if self.draw.random() < 0.5:
            self.lines.append(f"{indent}    if {variable} == 1: {self.draw.choice(['continue', 'break', 'pass'])}")
        target = self.draw.choice(self.tensors)
        self.lines.append(f"{indent}    {target} = {target} * {variable}")
        if len(indent) < 8:
            self.statement(indent + "    ")
        if self.draw.random() < 0.5:
            self.lines.append(f"{indent}else:\n{indent}    {target} = ttnn.neg({target})")

    def branch(self, indent: str) -> None:
        condition = self.draw.choice(["a.shape[0] == 32", "n > 1 and not LAYERS", "b.dtype == a.dtype or n", "n < 0"])
        target = self.draw.choice(self.tensors)
        self.lines.append(f"{indent}if {condition}:\n{indent}    {target} = {self.tensor(2)}")
        self.lines.append(f"{indent}else:\n{indent}    {target} = {self.tensor(1)}")

    def comprehension(self, indent: str) -> None:
        target = self.draw.choice(self.tensors)
        brackets = self.draw.choice(["[]", "()"])
        element = f"{self.draw.choice(self.tensors)} * k"
        self.lines.append(f"{indent}{target} = sum({brackets[0]}{element} for k in LAYERS if k != n{brackets[1]})")

    def nested_function(self, indent: str) -> None:
        name = f"f{next(self.names)}"
        self.lines.append(f"{indent}def {name}(t, k={self.number()}):\n{indent}    return {self.tensor(1)} - t * k")
        target = self.draw.choice(self.tensors)
        self.lines.append(f"{indent}{target} = {name}({self.tensor(1)})")

    def tensor(self, depth: int) -> str:
        if depth == 0:
            return self.draw.choice(self.tensors)
        x, y = self.tensor(depth - 1), self.operand(depth - 1)
        forms = [
            lambda: f"ttnn.{self.draw.choice(UNARY)}({x})",
            lambda: f"ttnn.{self.draw.choice(BINARY)}({x}, {y})",
            lambda: f"ttnn.{self.draw.choice(BINARY)}({self.number()}, {x})",
            lambda: f"({x} {self.draw.choice(['+', '-', '*', '/', '**', '<', '>=', '=='])} {y})",
            lambda: f"({self.number()} {self.draw.choice(['+', '-', '*', '/', '**'])} {x})",
            lambda: f"(-{x})",
            lambda: f"ttnn.clamp({x}, min={self.number()}, max=3)",
            lambda: f"ttnn.where({x}, {y}, {self.number()})",
            lambda: f"helper({x}, y={y})",
            lambda: f"jitted({x})",
            lambda: f"({x} if n > {self.draw.randint(0, 4)} else {y} + {x})",
            lambda: f"(lambda t: t * SCALE)({x})",
            lambda: f"functools.reduce(ttnn.add, [{x}, {self.tensor(depth - 1)}])",
            lambda: f"(ttnn\n      .exp({x}))",
            lambda: f"ttnn.add(\n  {x},\n    {y})",
        ]
        return self.draw.choice(forms)()

    def operand(self, depth: int) -> str:
        return self.number() if self.draw.random() < 0.3 else self.tensor(depth)

    def number(self) -> str:
        return self.draw.choice(["0.5", "2", "n", "-1.25", "SCALE", "math.pi", "True", "len(LAYERS)", "a.shape[-1]"])


def function_from(text: str, name: str):
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {
        "ttnn": ttnn, "functools": functools, "math": math, "helper": helper, "jitted": jitted, "SCALE": SCALE,
        "LAYERS": LAYERS,
    }  # fmt: skip
    exec(compile(text, name, "exec"), namespace)
    return namespace["program"]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), device=st.booleans(), mixed=st.booleans())
def test_a_random_program_has_one_text_in_both_frontends(seed, device, mixed):
    text = ProgramWriter(random.Random(seed)).program()
    function = function_from(text, f"<program {seed}>")
    target = WORMHOLE if device else CPU
    arguments = (BF16, F32 if mixed else BF16.with_(shape=(1, 32)))
    interpreted = lowered(function, *arguments, graph_capture=False, target=target)
    traced = lowered(function, *arguments, graph_capture=True, target=target)
    assert print_module(interpreted.module, locations=True) == print_module(traced.module, locations=True), text
    assert interpreted.output_structure == traced.output_structure
    assert not interpreted.opaque
    assert not traced.opaque
    assert {read.path for read in interpreted.reads} <= {read.path for read in traced.reads}
    assert compile_guard(function, interpreted.reads)()
    assert compile_guard(function, traced.reads)()
    linecache.cache.pop(f"<program {seed}>")
