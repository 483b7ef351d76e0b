"""The parts of a program between which functions of the host's module run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from xdsl.ir import SSAValue

from ttnn_jit.frontend.ir.lowered_text import LoweredText, PartResult, Source
from ttnn_jit.frontend.ir.ops_of_text import TextBuilder
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class ProgramPart:
    """A part that gets no more ops, and further results as later parts read them.

    Attributes:
        number: Which part.
        builder: Its function.
        values: The tensors of values of the text, one for each device.
        sources: What its inputs are.
        specs: Their specs.
        source_of: What an input is, by its handle.
        results: What it returns so far.
    """

    number: int
    builder: TextBuilder
    values: Mapping[SSAValue, tuple[Value, ...]]
    sources: Sequence[Source]
    specs: Sequence[TensorSpec]
    source_of: Mapping[SSAValue, Source]
    results: dict[SSAValue, Value] = field(default_factory=dict)

    def source(self, value: Value) -> Source:
        """What a tensor of this part is for later ones: an input of the program, or a result of this part."""
        known = self.source_of.get(value.handle)
        if known is not None:
            return known
        self.results.setdefault(value.handle, value)
        return PartResult(self.number, [*self.results].index(value.handle))

    def finished(self) -> LoweredText:
        """The part with all that later ones read."""
        module = self.builder.finish([*self.results])
        specs = tuple(each.spec for each in self.results.values())
        return LoweredText(module, (*self.sources,), (*self.specs,), specs, {})
