"""Random programs of ttnn operations with numbers among their arguments."""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ttnn_jit import ttnn

ROWS, COLUMNS = 5, 33
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-41, -1e-45, 1e300, 3.4028234663852886e38, 2.0, 0.5)
SPECIAL_INTS = (0, 1, -1, -7, 1 << 24, (1 << 24) + 1, 1 << 31, 1 << 40, -(1 << 33))

FLOATS = (
    "v", "v", "v", "v * 2", "v + i", "v / (i * i + 1)", "-v", "v * 0.1", "1.0 / (i * i + 2)", "abs(v)", "v ** 2",
    "math.sqrt(abs(v) + 1)", "max(v, 0.25)", "float(i)", "i", "i * 3", "i // 2", "i % 5", "(v if v > 0.7 else i)",
    "x.shape[1] * v", "v - 1e-3", "3 - v",
)  # fmt: skip
INTS = ("i", "i", "i + 3", "-i", "i * 7", "i // 2", "i % 5", "max(i, 4)")
OF_FLOATS = (
    "{x} * {n}", "{n} * {x}", "{x} + {n}", "{n} - {x}", "{x} / {n}", "{n} / {x}", "ttnn.maximum({x}, {n})",
    "ttnn.minimum({x}, {n})", "ttnn.pow(ttnn.abs({x}), {n})", "ttnn.gt({x}, {n})", "ttnn.where({x} > {n}, {x}, {n})",
    "ttnn.clamp({x}, -abs({n}), abs({n}))", "ttnn.leaky_relu({x}, {n})", "ttnn.hardtanh({x}, -abs({n}), abs({n}))",
    "ttnn.threshold({x}, {n}, {m})", "ttnn.softshrink({x}, lambd={n})", "ttnn.rms_norm({x}, epsilon=abs({n}))",
    "ttnn.softmax({x} * {n}, dim=-1)", "ttnn.sum({x}, dim=-1, keepdim=True) * {n} + {x}", "ttnn.matmul({x}, w) * {n}",
    "ttnn.gelu(ttnn.matmul({x}, w) + {n})", "ttnn.full({x}.shape, {n}, dtype=ttnn.float32) + {x}",
    "ttnn.addcmul({x}, {x}, {x}, value={n})", "ttnn.elu({x}, alpha={n})", "ttnn.atan2({x}, {n})",
    "ttnn.hypot({x}, {n})", "ttnn.fmod({x}, {n})", "ttnn.mean({x} * {n}, dim=0, keepdim=True) - {x}",
    "ttnn.addalpha({x}, {x}, {n})", "ttnn.isclose({x}, {x} + {n})", "ttnn.rsub({x}, {n})", "ttnn.exp({x} * {n})",
)  # fmt: skip
OF_INTS = (
    "{x} * {n}",
    "{x} + {n}",
    "{n} - {x}",
    "ttnn.maximum({x}, {n})",
    "ttnn.gt({x}, {n})",
    "ttnn.bitwise_and({x}, {n})",
)
"""Operations on floats and on integers; a number is `{n}` or `{m}`."""
FORMS = ("positional", "keyword", "dataclass", "list", "global", "closure", "attribute")


_CLOSURE = "def make(v, i):\n    def put(a, b):\n        nonlocal v, i\n        v, i = a, b\n"


@dataclass
class Numbers:
    """The numbers of a call in a record."""

    v: float
    i: int


class NumberProgram:
    """A function of a tensor and two numbers, a float and an int, as text.

    Attributes:
        form: How a call gives the numbers.
        text: The source.
    """

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.dtype = self._draw.choice((torch.float32, torch.float32, torch.bfloat16, torch.int32))
        self.form = self._draw.choice(FORMS)
        self.name = f"numbers_{seed}"
        numbers, operations = (INTS, OF_INTS) if self.dtype is torch.int32 else (FLOATS, OF_FLOATS)
        lines = [f"def {self.name}(x, w, {self._parameters()}):", *self._bindings()]
        for _ in range(self._draw.randint(1, 3)):
            n, m = (f"({self._draw.choice(numbers)})" for _ in range(2))
            lines.append(f"    x = {self._draw.choice(operations).format(x='x', n=n, m=m)}")
        self.text = "\n".join([*lines, "    return x", ""])

    def _parameters(self) -> str:
        return {"positional": "v, i", "keyword": "*, v, i", "dataclass": "c", "list": "c"}.get(self.form, "")

    def _bindings(self) -> list[str]:
        found = {"dataclass": "c.v, c.i", "list": "c[0], c[1]['i']", "attribute": "C.v, C.i", "global": "V, I"}
        return [f"    v, i = {found[self.form]}"] if self.form in found else []

    def function(self, decorate: Callable[..., Any]) -> Callable[..., Any]:
        """The decorated function as a function of tensors and numbers."""
        text = self.text
        if self.form == "closure":
            own = "".join(f"    {line}\n" for line in text.splitlines())
            text = f"{_CLOSURE}{own}    return put, {self.name}\n"
        file = f"<{self.name}>"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        scope: dict[str, Any] = {"ttnn": ttnn, "math": math, "__name__": self.name, "C": Numbers(0.0, 0)}
        exec(compile(text, file, "exec"), scope)
        put, plain = scope["make"](0.0, 0) if self.form == "closure" else (None, scope[self.name])
        made = decorate(plain)

        def call(x: Any, w: Any, v: float, i: int) -> Any:
            match self.form:
                case "positional":
                    return made(x, w, v, i)
                case "keyword":
                    return made(x, w, i=i, v=v)
                case "dataclass":
                    return made(x, w, Numbers(v, i))
                case "list":
                    return made(x, w, [v, {"i": i}])
                case "closure":
                    put(v, i)
                case "attribute":
                    scope["C"].v, scope["C"].i = v, i
                case _:
                    scope["V"], scope["I"] = v, i
            return made(x, w)

        return call

    def tensors(self, rows: int = ROWS, columns: int = COLUMNS) -> tuple[Any, Any]:
        """The tensors of a call, the first of this shape."""
        generator = torch.Generator().manual_seed(self._draw.randrange(1 << 30))
        x = torch.randn(rows, columns, generator=generator) * 4
        w = torch.randn(columns, columns, generator=generator)
        x[0, :4] = torch.tensor([math.nan, math.inf, -0.0, 1e-40])
        return x.nan_to_num().to(self.dtype) if self.dtype is torch.int32 else x.to(self.dtype), w.to(self.dtype)

    def numbers(self, count: int, *, special: float) -> Iterator[tuple[float, int]]:
        """Numbers of calls, each with the probability `special` one of the special ones."""
        for _ in range(count):
            v = self._draw.choice(SPECIAL) if self._draw.random() < special else self._draw.uniform(-3, 3)
            i = self._draw.choice(SPECIAL_INTS) if self._draw.random() < special else self._draw.randint(2, 40)
            yield v, i
