"""A function of an LLVM module, from its head to its end."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.llvm_module import FunctionText, ModuleText
from ttnn_jit.kernels.llvm.types import VOID, Type
from ttnn_jit.kernels.llvm.values import Body, Value, text_of
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Parameter:
    """Of a function.

    Attributes:
        name: Of its value.
        type: Its type.
        attributes: What is known of it: ``noalias readonly``.
    """

    name: str
    type: Type
    attributes: str = ""


class FunctionBuilder(Builder):
    """Builds a function; what is written first is in its first block.

    Attributes:
        name: Its symbol.
        parameters: Their values.
    """

    def __init__(
        self,
        name: str,
        module: ModuleText,
        parameters: Sequence[Parameter],
        result: Type = VOID,
        *,
        is_internal: bool = False,
        attributes: str = "nounwind",
        taking_in: Body | None = None,
    ) -> None:
        """Begins a function.

        Args:
            name: Its symbol.
            module: What is declared for it.
            parameters: What it takes.
            result: What it gives back.
            is_internal: Whether its module alone sees it.
            attributes: LLVM's, of the function.
            taking_in: A body whose code it will take in: it names its own values otherwise.
        """
        super().__init__(module, Body(taking=taking_in))
        self.name = name
        self._result = result
        self._parameters = parameters
        self._is_internal = is_internal
        self._attributes = attributes
        self.parameters = tuple(self.new(each.type, each.name) for each in parameters)

    def ended(self, result: Value | None = None, *, fences: bool = False) -> FunctionText:
        """Returns from the function; the definition.

        Args:
            result: What the function gives back.
            fences: Whether it stored past the caches: other threads see such stores in no order otherwise.
        """
        if fences:
            self.fence()
        self.give_back(result)
        return self.text

    @property
    def text(self) -> FunctionText:
        """The definition."""
        named = zip(self._parameters, self.parameters, strict=True)
        parameters = ", ".join(" ".join(filter(None, (each.type, each.attributes, made))) for each, made in named)
        behind = f"({parameters}) {self._attributes} {{\n{text_of(self.body.code)}\n}}"
        return FunctionText.of(self._result, self.name, behind, is_internal=self._is_internal)
