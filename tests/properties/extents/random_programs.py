"""Random programs of ttnn operations on tensors whose sizes change."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from ttnn_jit import ttnn

WIDTHS = (16, 33, 64)
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 96, 100, 127, 128, 129, 130, 200, 256)

UNARY = ("exp", "tanh", "gelu", "relu", "neg", "abs", "sigmoid", "square")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum")


class Value(NamedTuple):
    """A variable of the program, and the texts of its extents."""

    name: str
    shape: tuple[str, ...]


class RandomProgram:
    """A function of two tensors (a, b, width) and a weight (width, width), as text.

    Attributes:
        width: The extent that does not change.
        text: The source.
    """

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.width = self._draw.choice(WIDTHS)
        self.name = f"program_{seed}"
        self._values = [Value("x", ("a", "b", str(self.width))), Value("y", ("a", "b", str(self.width)))]
        self._lines = [f"def {self.name}(x, y, w):", "    a, b, width = x.shape"]
        for _ in range(self._draw.randint(1, 7)):
            self._step()
        results = self._values[-self._draw.choice((1, 1, 2)) :]
        self._lines.append(f"    return {', '.join(each.name for each in results)}")
        self.text = "\n".join(self._lines) + "\n"

    def function(self) -> Callable[..., Any]:
        """The function, whose source can be read."""
        file = f"<{self.name}>"
        linecache.cache[file] = len(self.text), None, self.text.splitlines(keepends=True), file
        scope = {"ttnn": ttnn, "__name__": self.name}
        exec(compile(self.text, file, "exec"), scope)
        function: Callable[..., Any] = scope[self.name]
        return function

    def tensors(self, a: int, b: int) -> tuple[Any, ...]:
        """Arguments of these sizes."""
        generator = torch.Generator().manual_seed(a * 1000 + b)
        x, y = (torch.randn(a, b, self.width, generator=generator) for _ in range(2))
        return x, y, torch.randn(self.width, self.width, generator=generator)

    def sizes(self, count: int) -> Iterator[tuple[int, int]]:
        """Sizes of both extents that change."""
        for _ in range(count):
            yield self._draw.choice(SIZES), self._draw.choice(SIZES)

    def _step(self) -> None:
        value = self._draw.choice(self._values)
        steps = [self._unary, self._unary, self._binary, self._binary, self._reduce, self._softmax, self._vector]
        steps += [self._permute, self._merge, self._slice, self._concat]
        if value.shape[-1] == str(self.width):
            steps += [self._product, self._product, self._norm]
        if len(value.shape) == 3:
            steps += [self._scores]
        self._draw.choice(steps)(value)

    def _add(self, expression: str, shape: tuple[str, ...]) -> None:
        name = f"t{len(self._values)}"
        self._lines.append(f"    {name} = {expression}")
        self._values.append(Value(name, shape))

    def _unary(self, value: Value) -> None:
        self._add(f"ttnn.{self._draw.choice(UNARY)}({value.name})", value.shape)

    def _binary(self, value: Value) -> None:
        same = [each for each in self._values if each.shape == value.shape]
        other = self._draw.choice([*(each.name for each in same), "0.5", "-2.0"])
        self._add(f"ttnn.{self._draw.choice(BINARY)}({value.name}, {other})", value.shape)

    def _vector(self, value: Value) -> None:
        """An operand that broadcasts: a reduction of the value."""
        axis = self._draw.randrange(len(value.shape))
        function = self._draw.choice(("max", "sum"))
        self._add(f"ttnn.subtract({value.name}, ttnn.{function}({value.name}, dim={axis}, keepdim=True))", value.shape)

    def _reduce(self, value: Value) -> None:
        axis = self._draw.randrange(len(value.shape))
        keepdim = len(value.shape) < 3 or self._draw.random() < 0.5
        shape = tuple("1" if k == axis else extent for k, extent in enumerate(value.shape) if keepdim or k != axis)
        function = self._draw.choice(("sum", "max", "min", "mean"))
        self._add(f"ttnn.{function}({value.name}, dim={axis}, keepdim={keepdim})", shape)

    def _softmax(self, value: Value) -> None:
        self._add(f"ttnn.softmax({value.name}, dim=-1)", value.shape)

    def _norm(self, value: Value) -> None:
        self._add(f"ttnn.layer_norm({value.name}, epsilon=1e-3)", value.shape)

    def _product(self, value: Value) -> None:
        self._add(f"ttnn.matmul({value.name}, w)", value.shape)

    def _scores(self, value: Value) -> None:
        first, second, _ = value.shape
        self._add(f"ttnn.matmul({value.name}, ttnn.permute({value.name}, (0, 2, 1)))", (first, second, second))

    def _permute(self, value: Value) -> None:
        order = list(range(len(value.shape)))
        self._draw.shuffle(order)
        self._add(f"ttnn.permute({value.name}, {tuple(order)})", tuple(value.shape[axis] for axis in order))

    def _merge(self, value: Value) -> None:
        """Two dimensions as one, or the width as two."""
        if len(value.shape) == 3 and self._draw.random() < 0.7:
            first, second, third = value.shape
            shape = (f"({first}) * ({second})", third)
        elif value.shape[-1] in ("16", "64") and len(value.shape) == 2:
            shape = (value.shape[0], "4", str(int(value.shape[-1]) // 4))
        else:
            return
        self._add(f"ttnn.reshape({value.name}, ({', '.join(shape)}))", shape)

    def _slice(self, value: Value) -> None:
        axis = self._draw.randrange(len(value.shape))
        extent = value.shape[axis]
        part, left = self._draw.choice(
            ((f": ({extent}) // 2", f"({extent}) // 2"), (f"({extent}) // 2 :", f"({extent}) - ({extent}) // 2"))
        )
        index = ", ".join(part if k == axis else ":" for k, _ in enumerate(value.shape))
        self._add(f"{value.name}[{index}]", tuple(left if k == axis else each for k, each in enumerate(value.shape)))

    def _concat(self, value: Value) -> None:
        axis = self._draw.randrange(len(value.shape))
        shape = tuple(f"2 * ({each})" if k == axis else each for k, each in enumerate(value.shape))
        self._add(f"ttnn.concat([{value.name}, {value.name}], dim={axis})", shape)
