"""A function of an LLVM module."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.llvm_module import FunctionText, ModuleText
from ttnn_jit.kernels.llvm.types import VOID, Type
from ttnn_jit.kernels.llvm.values import Body, Value, text_of
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function.

    Attributes:
        name: Name of its value.
        type: Its type.
        attributes: Its LLVM attributes, such as ``noalias readonly``.
    """

    name: str
    type: Type
    attributes: str = ""


class FunctionBuilder(Builder):
    """Builds a function, starting in its entry block.

    Attributes:
        name: Symbol of the function.
        parameters: The values of its parameters.
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
        inlining: Body | None = None,
    ) -> None:
        """Begin a function.

        Args:
            name: Symbol of the function.
            module: Receives the declarations.
            parameters: Its parameters.
            result: Type of its result.
            is_internal: Whether it has internal linkage.
            attributes: LLVM attributes of the function.
            inlining: A body that it will inline; its own names avoid the names of that body.
        """
        super().__init__(module, Body(inlining=inlining))
        self.name = name
        self._result = result
        self._parameters = parameters
        self._is_internal = is_internal
        self._attributes = attributes
        self.parameters = tuple(self.new(each.type, each.name) for each in parameters)

    def build(self, result: Value | None = None, *, fences: bool = False) -> FunctionText:
        """Return from the function; gives the text of the definition.

        Args:
            result: The returned value.
            fences: Whether to emit a fence, which orders non-temporal stores for other threads.
        """
        if fences:
            self.fence()
        self.ret(result)
        return self.text

    @property
    def text(self) -> FunctionText:
        """The text of the definition."""
        named = zip(self._parameters, self.parameters, strict=True)
        parameters = ", ".join(" ".join(filter(None, (each.type, each.attributes, made))) for each, made in named)
        after_name = f"({parameters}) {self._attributes} {{\n{text_of(self.body.code)}\n}}"
        return FunctionText.of(self._result, self.name, after_name, is_internal=self._is_internal)
