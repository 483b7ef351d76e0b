"""The sweeps of a body that reduces, as Python statements for one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ttnn_jit.codegen.bodies.body_analysis import REDUCTION_OF_TILE
from ttnn_jit.codegen.bodies.numba_steps import statements
from ttnn_jit.codegen.schedules.kernel import LoopNest
from ttnn_jit.codegen.schedules.sweep import Fold, Sweep
from ttnn_jit.kernels.numba.python_scalar import INDENT, PythonScalar
from ttnn_jit.nest.buffers import LEVELS, Buffer, BufferKind
from ttnn_jit.ops.families.reduction import BLOCK, CHAINS
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType


class SweepWriter:
    """Emits the sweeps over a row, the reduced loop.

    Buffer k is ``b<k>``; the chains of its reduction are ``c<k>``, and the pending results of blocks ``l<k>``.

    Args:
        nest: The sweeps.
        builder: Gets the statements.
        elements: By stream, the element that is loaded or stored.
        loop: The number of the loop: its index is ``i<loop>``, and its extent ``n<loop>``.
    """

    def __init__(self, nest: LoopNest, builder: PythonScalar, elements: Sequence[str], loop: int) -> None:
        self._builder = builder
        self._index, self._extent = f"i{loop}", f"n{loop}"
        self._sweeps = nest.all_of(Sweep)
        self._buffers = nest.scratch_of(Buffer)
        self._streams = len(elements)
        self._elements = list(elements)
        for k, buffer in enumerate(self._buffers, len(elements)):
            self._elements.append(f"b{k}[{self._index if buffer.kind is BufferKind.ROW else 0}]")

    def text(self) -> tuple[list[str], list[str]]:
        """The memory of the buffers, and the sweeps over a row."""
        memory = [
            self._memory(f"b{k}", buffer.dtype, buffer.kind.count)
            for k, buffer in enumerate(self._buffers, self._streams)
            if buffer.kind is not BufferKind.TERMS
        ]
        for fold in (fold for sweep in self._sweeps for fold in sweep.folds):
            memory.append(self._memory(f"c{fold.result}", COMPUTE_TYPE, CHAINS))
            memory.append(self._memory(f"l{fold.result}", COMPUTE_TYPE, LEVELS))
        return memory, [line for sweep in self._sweeps for line in self._sweep(sweep)]

    def _memory(self, name: str, dtype: DataType, count: int) -> str:
        function = f"{dtype.name.lower()}_memory"
        self._builder.imported.add(function)
        return f"{name} = {function}({count})"

    def _sweep(self, sweep: Sweep) -> list[str]:
        own = [self._elements[k] for k in sweep.stage.operands]
        if sweep.folds:
            return self._reducing(sweep, own)
        element = statements(self._builder, lambda: sweep.stage.write(self._builder, own))
        count = self._extent if sweep.whole_row else "1"
        return [f"for {self._index} in range({count}):", *(INDENT + line for line in element)]

    def _reducing(self, sweep: Sweep, own: list[str]) -> list[str]:
        """A sweep in blocks; the reduced operand of an element is a variable instead of a buffer."""
        terms = {fold.terms: self._elements[fold.terms] for fold in sweep.folds}
        terms |= {k: f"term{k}" for k in terms if self._is_block(k)}
        own = [terms.get(k, each) for k, each in zip(sweep.stage.operands, own, strict=True)]
        element = statements(self._builder, lambda: self._accumulated(sweep, own, terms))
        chains = [f"c{fold.result}[c] = {self._identity(fold)}" for fold in sweep.folds]
        return [
            "first = 0",
            "number = 0",
            "while True:",
            *(f"{INDENT}for c in range({CHAINS}): {statement}" for statement in chains),
            f"{INDENT}for {self._index} in range(first, min(first + {BLOCK}, {self._extent})):",
            *(INDENT * 2 + line for line in element),
            *(INDENT + line for fold in sweep.folds for line in self._folded(fold)),
            f"{INDENT}first += {BLOCK}",
            f"{INDENT}number += 1",
            f"{INDENT}if first >= {self._extent}: break",
            *(line for fold in sweep.folds for line in self._finished(fold)),
        ]

    def _is_block(self, number: int) -> bool:
        index = number - self._streams
        return index >= 0 and self._buffers[index].kind is BufferKind.TERMS

    def _accumulated(self, sweep: Sweep, own: Sequence[str], terms: Mapping[int, str]) -> None:
        sweep.stage.write(self._builder, own)
        for fold in sweep.folds:
            chain = f"c{fold.result}[({self._index} - first) & {CHAINS - 1}]"
            self._combine(fold, chain, chain, terms[fold.terms])

    def _combine(self, fold: Fold, target: str, left: str, right: str) -> None:
        """Writes the statements for ``target = combine(left, right)``."""
        operands = map(self._builder.assign, (left, right))
        result = REDUCTION_OF_TILE[fold.tile_name].combine(self._builder, *operands)
        self._builder.lines.append(f"{target} = {result}")

    def _identity(self, fold: Fold) -> str:
        return str(self._builder.const(REDUCTION_OF_TILE[fold.tile_name].identity))

    def _folded(self, fold: Fold) -> list[str]:
        """Fold the chains by halving, and combine the block's result into its level; see swept_loops.py."""
        chains, level = f"c{fold.result}", f"l{fold.result}[level]"
        halving = statements(
            self._builder, lambda: self._combine(fold, f"{chains}[c]", f"{chains}[c]", f"{chains}[c + width]")
        )
        pushing = statements(self._builder, lambda: self._combine(fold, f"{chains}[0]", level, f"{chains}[0]"))
        return [
            f"width = {CHAINS // 2}",
            "while width:",
            f"{INDENT}for c in range(width):",
            *(INDENT * 2 + line for line in halving),
            f"{INDENT}width >>= 1",
            "level = 0",
            "while (number >> level) & 1:",
            *(INDENT + line for line in pushing),
            f"{INDENT}level += 1",
            f"{level} = {chains}[0]",
        ]

    def _finished(self, fold: Fold) -> list[str]:
        """Fold the levels of all blocks, the last blocks first."""
        level, result = f"l{fold.result}[level]", f"b{fold.result}[0]"
        joining = statements(self._builder, lambda: self._combine(fold, result, level, result))
        return [
            "level = 0",
            "while not (number >> level) & 1: level += 1",
            f"{result} = {level}",
            "level += 1",
            "while number >> level:",
            f"{INDENT}if (number >> level) & 1:",
            *(INDENT * 2 + line for line in joining),
            f"{INDENT}level += 1",
        ]
