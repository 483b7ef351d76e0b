"""LLVM modules: the shared declarations of functions, and the modules of a kernel.

Rare paths are long and identical in all kernels: in a kernel with a sine, the reduction of huge arguments is half of
the code. A process therefore assembles each rare path once, in a separate module, whose function kernels call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field

from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass

_MODULE_BREAK = "\n; ---- a module to be linked with the one above ----\n"


KERNEL = "kernel"
"""Symbol of a kernel until its text is complete; the hash of the text then becomes its name."""


class FunctionText(str):
    """The text of a function's definition.

    Attributes:
        result: Type of the result.
        name: Symbol of the function.
        after_name: The text after the symbol.
    """

    __slots__ = ("after_name", "name", "result")
    result: str
    name: str
    after_name: str

    @staticmethod
    def of(result: str, name: str, after_name: str, *, is_internal: bool) -> FunctionText:
        """The definition with these parts; `is_internal` gives it internal linkage."""
        text = FunctionText(f"define {'internal ' * is_internal}{result} @{name}{after_name}")
        text.result, text.name, text.after_name = result, name, after_name
        return text

    def named(self, name: str, *, is_internal: bool = False) -> FunctionText:
        """The function under another name; it must have no callers."""
        return FunctionText.of(self.result, name, self.after_name, is_internal=is_internal)


@dataclass(frozen=True)
class LlvmModule:
    """A module for the assembler.

    Attributes:
        text: LLVM IR.
        linked: Texts of modules that are linked into it.
        fast_isel: Whether fast instruction selection is used.
    """

    text: str
    linked: tuple[str, ...] = ()
    fast_isel: bool = False

    @property
    def listing(self) -> str:
        """The whole text, for readers."""
        return f"{_MODULE_BREAK.join([self.text, *self.linked])}\n"


@dataclass(frozen=True)
class KernelModules:
    """The modules of a kernel.

    Attributes:
        whole: A self-contained module, for readers, or to be assembled alone.
        kernel: The kernel's module, which declares the functions of `rare_paths`.
        rare_paths: The modules of rare paths by symbol; a symbol ends in a hash of the text.
    """

    whole: LlvmModule
    kernel: LlvmModule
    rare_paths: Mapping[str, LlvmModule]

    @staticmethod
    def of(whole: LlvmModule) -> KernelModules:
        """The modules of a kernel without rare paths."""
        return KernelModules(whole, whole, {})


@dataclass(frozen=True)
class RarePath:
    """An out-of-line function for rare arguments.

    Attributes:
        text: Its definition.
        parameters: Number of its parameters, which have the type of the result.
        is_standalone: Whether it calls no other rare path, so that it can be a separate module.
    """

    text: FunctionText
    parameters: int
    is_standalone: bool

    @cached_property
    def name(self) -> str:
        """Its symbol; equal for equal texts if it is a separate module."""
        if not self.is_standalone:
            return self.text.name
        digest = hashlib.sha256(f"{self.text}\n".encode()).hexdigest()
        return f"{self.text.name}.{digest[:16]}"

    @cached_property
    def definition(self) -> str:
        """The definition with internal linkage."""
        return self.text.named(self.name, is_internal=True)

    @property
    def shared_definition(self) -> str:
        """The definition that other modules can call."""
        return self.text.named(self.name)

    @property
    def declaration(self) -> str:
        """The declaration for modules that call the shared definition."""
        kind = self.text.result
        return f"declare {kind} @{self.name}({', '.join([kind] * self.parameters)}) cold nounwind"


@dataclass
class ModuleText:
    """The shared text of the functions of one LLVM module; keys are unique and in the order of first use.

    Attributes:
        declarations: ``declare`` lines of intrinsics.
        variables: Definitions of internal variables.
        rare_paths: Rare paths by symbol.
        linked: Texts of separate modules by symbol: user functions that the module calls.
    """

    declarations: dict[str, None] = field(default_factory=dict)
    variables: dict[str, None] = field(default_factory=dict)
    rare_paths: dict[str, RarePath] = field(default_factory=dict)
    linked: dict[str, str] = field(default_factory=dict)

    @property
    def calls_functions(self) -> bool:
        """Whether it calls functions other than intrinsics."""
        return bool(self.rare_paths or self.linked)

    def add(self, other: ModuleText) -> None:
        """Adds everything of `other` to this module."""
        self.declarations |= other.declarations
        self.variables |= other.variables
        self.rare_paths |= other.rare_paths
        self.linked |= other.linked

    def text(self) -> str:
        """The text of the declarations, variables and rare paths."""
        return "\n".join([*(rare.definition for rare in self.rare_paths.values()), *self.declarations, *self.variables])

    def kernel(
        self, prefix: str, head: Sequence[str], definitions: Sequence[str], *, fast_isel: bool = False
    ) -> tuple[str, KernelModules]:
        """The name and the modules of a kernel, which consists of the function `KERNEL` and other `definitions`.

        Args:
            prefix: The prefix of the name; a hash of the text follows.
            head: Comment lines at the top.
            definitions: The definitions of its functions.
            fast_isel: Whether fast instruction selection is used.
        """
        unnamed = self._whole([*head, *definitions], fast_isel=fast_isel)
        name = f"{prefix}_{hashlib.sha256(unnamed.listing.encode()).hexdigest()[:16]}"
        named = (
            each.named(name) if isinstance(each, FunctionText) and each.name == KERNEL else each for each in definitions
        )
        return name, self.modules([*head, *named], fast_isel=fast_isel)

    def _whole(self, definitions: Sequence[str], *, fast_isel: bool) -> LlvmModule:
        return LlvmModule("\n".join([*definitions, self.text()]), tuple(self.linked.values()), fast_isel)

    def modules(self, definitions: Sequence[str], *, fast_isel: bool = False) -> KernelModules:
        """The modules with the functions `definitions` and this shared text."""
        rare_paths = self.rare_paths.values()
        standalone = [
            rare for rare in rare_paths if rare.is_standalone
        ]  # others would need linking with the paths that they call
        whole = self._whole(definitions, fast_isel=fast_isel)
        if not standalone:
            return KernelModules.of(whole)
        rare_text = (rare.declaration if rare in standalone else rare.definition for rare in rare_paths)
        kernel = "\n".join([*definitions, *rare_text, *self.declarations, *self.variables])
        needed = "\n".join(self.declarations)
        return KernelModules(
            whole,
            LlvmModule(kernel, whole.linked, fast_isel),
            {rare.name: LlvmModule(f"{rare.shared_definition}\n{needed}\n") for rare in standalone},
        )


@dataclass(frozen=True)
class Functions:
    """Functions that kernels include in their modules.

    Attributes:
        definitions: Their texts.
        module: The shared text that they need.
    """

    definitions: tuple[str, ...]
    module: ModuleText
