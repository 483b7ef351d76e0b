"""The results of blocks, folded pairwise as they come: binary counting (ops/families/reduction.py has the order).

Level i holds the result of 2**i neighbouring blocks where bit i of their number is set. A result is a float in a
register, or a row of floats in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I1, I64, PTR, VOID, Type
from ttnn_jit.kernels.llvm.values import TRUE, Value


class Results(Protocol):
    """What the results of blocks are.

    Attributes:
        type: Of one.
        floats: Of one, in a level.
    """

    type: Type
    floats: int

    def combined(self, f: FunctionBuilder, own: Value, level: Value) -> Value:
        """A result with that at an address."""
        ...

    def keep(self, f: FunctionBuilder, own: Value, level: Value) -> None:
        """Writes a result to an address."""
        ...


def push(name: str, results: Results, module: ModuleText) -> str:
    """``void @name.push(ptr levels, i64 number, own)``: takes the result of block `number`, in order from 0."""
    parameters = Parameter("levels", PTR), Parameter("number", I64), Parameter("own", results.type)
    f = FunctionBuilder(f"{name}.push", module, parameters, is_internal=True)
    levels, number, own = f.parameters
    level = f.new_block("level", (I64, "bits"), (I64, "index"), (results.type, "held"))
    full, free = f.new_block("full"), f.new_block("free")
    f.branch(level, number, 0, own)
    bits, index, held = f.begin(level)
    at = _level(f, levels, index, results)
    f.branch_if(f.narrow(bits, I1, "bit"), full, free)
    f.begin(full)
    both = results.combined(f, held, at)
    f.branch(level, f.shift_right_zero(bits, 1), f.add(index, 1), both)
    f.begin(free)
    results.keep(f, held, at)
    return f.ended()


def finish(
    name: str,
    results: Results,
    module: ModuleText,
    first: Callable[[FunctionBuilder, Value], Value],
    *target: Parameter,
) -> str:
    """``@name.finish(ptr levels, i64 blocks, target)``: the result of all blocks; `first` takes the lowest level's."""
    parameters = Parameter("levels", PTR), Parameter("blocks", I64), *target
    result = VOID if target else results.type
    f = FunctionBuilder(f"{name}.finish", module, parameters, result, is_internal=True)
    levels, blocks = f.parameters[:2]
    lowest = f.intrinsic(I64, "llvm.cttz.i64", blocks, TRUE, hint="lowest")
    own = first(f, _level(f, levels, lowest, results))
    level = f.new_block("level", (I64, "index"), (results.type, "own"))
    more, full, done = f.new_block("more"), f.new_block("full"), f.new_block("done")
    f.branch(level, lowest, own)
    index, own = f.begin(level)
    following = f.add(index, 1, "next")
    left = f.shift_right_zero(blocks, following, "left.bits")
    f.branch_if(f.compare("ne", left, 0, "some"), more, done)
    f.begin(more)
    f.branch_if(f.narrow(left, I1, "bit"), full, level, (), (following, own))
    f.begin(full)
    f.branch(level, following, results.combined(f, own, _level(f, levels, following, results)))
    f.begin(done)
    return f.ended(None if target else own)


def _level(f: FunctionBuilder, levels: Value, index: Value, results: Results) -> Value:
    return f.element(levels, FLOAT, f.mul(index, results.floats), "at")
