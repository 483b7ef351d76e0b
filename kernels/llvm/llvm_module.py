"""LLVM modules: what the functions of one share, and a kernel's as the assembler takes them.

Rare paths are long and the same in every kernel: of a kernel with a sine, reducing huge arguments is half of the
code. A process therefore assembles each once, in a module of its own, which kernels call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field

from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass

_MODULE_BREAK = "\n; ---- a module to be linked with the one above ----\n"


KERNEL = "kernel"
"""Symbol of a kernel until its text is complete, whose hash becomes its name."""


class FunctionText(str):
    """A function's definition.

    Attributes:
        result: Type of what it gives back.
        name: Its symbol.
        behind: What stands behind that.
    """

    __slots__ = ("behind", "name", "result")
    result: str
    name: str
    behind: str

    @staticmethod
    def of(result: str, name: str, behind: str, *, is_internal: bool) -> FunctionText:
        """The definition that is made of these; `is_internal`: its module alone sees it."""
        text = FunctionText(f"define {'internal ' * is_internal}{result} @{name}{behind}")
        text.result, text.name, text.behind = result, name, behind
        return text

    def named(self, name: str, *, is_internal: bool = False) -> FunctionText:
        """The function by another name, which nothing calls."""
        return FunctionText.of(self.result, name, self.behind, is_internal=is_internal)


@dataclass(frozen=True)
class LlvmModule:
    """What the assembler takes.

    Attributes:
        text: LLVM IR.
        linked: Texts of modules that are linked to it.
        fast_isel: Whether fast instruction selection is used.
    """

    text: str
    linked: tuple[str, ...] = ()
    fast_isel: bool = False

    @property
    def listing(self) -> str:
        """The whole text, as a reader is shown it."""
        return f"{_MODULE_BREAK.join([self.text, *self.linked])}\n"


@dataclass(frozen=True)
class KernelModules:
    """The modules of a kernel.

    Attributes:
        whole: One module with everything, to be read, or assembled by itself.
        kernel: The kernel, which declares the functions of `rare_paths`.
        rare_paths: By symbol, which ends in a hash of the text, a module with that function.
    """

    whole: LlvmModule
    kernel: LlvmModule
    rare_paths: Mapping[str, LlvmModule]

    @staticmethod
    def of(whole: LlvmModule) -> KernelModules:
        """Those of a kernel without rare paths."""
        return KernelModules(whole, whole, {})


@dataclass(frozen=True)
class RarePath:
    """An out-of-line function for arguments that hardly ever occur.

    Attributes:
        text: By what it is called among the module's.
        parameters: How many; they are of its result's type.
        is_alone: Whether it calls no other rare path, so that it can be a module of its own.
    """

    text: FunctionText
    parameters: int
    is_alone: bool

    @cached_property
    def name(self) -> str:
        """Its symbol; the same for the same text where it is a module of its own."""
        if not self.is_alone:
            return self.text.name
        digest = hashlib.sha256(f"{self.text}\n".encode()).hexdigest()
        return f"{self.text.name}.{digest[:16]}"

    @cached_property
    def definition(self) -> str:
        """The function for use in its own module alone."""
        return self.text.named(self.name, is_internal=True)

    @property
    def shared_definition(self) -> str:
        """The function for the use of other modules."""
        return self.text.named(self.name)

    @property
    def declaration(self) -> str:
        """The declaration in a module that calls the shared function."""
        kind = self.text.result
        return f"declare {kind} @{self.name}({', '.join([kind] * self.parameters)}) cold nounwind"


@dataclass
class ModuleText:
    """What the functions of one LLVM module share; every key is written once, in the order of first use.

    Attributes:
        declarations: ``declare`` lines of intrinsics.
        variables: Definitions of variables, which its functions alone see.
        rare_paths: By symbol.
        linked: Symbol -> the text of a module of its own: a user's function that the module calls.
    """

    declarations: dict[str, None] = field(default_factory=dict)
    variables: dict[str, None] = field(default_factory=dict)
    rare_paths: dict[str, RarePath] = field(default_factory=dict)
    linked: dict[str, str] = field(default_factory=dict)

    @property
    def calls_functions(self) -> bool:
        """Whether it calls more than intrinsics."""
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
        """The name and the modules of a kernel: of the function `KERNEL` and the others of `definitions`.

        Args:
            prefix: What its name begins with; a hash of the text follows.
            head: Comments above all.
            definitions: Its functions.
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
        """The modules of the functions `definitions` and of what they share."""
        written = self.rare_paths.values()
        apart = [rare for rare in written if rare.is_alone]  # others would have to be linked to what they call
        whole = self._whole(definitions, fast_isel=fast_isel)
        if not apart:
            return KernelModules.of(whole)
        beside = (rare.declaration if rare in apart else rare.definition for rare in written)
        kernel = "\n".join([*definitions, *beside, *self.declarations, *self.variables])
        needed = "\n".join(self.declarations)
        return KernelModules(
            whole,
            LlvmModule(kernel, whole.linked, fast_isel),
            {rare.name: LlvmModule(f"{rare.shared_definition}\n{needed}\n") for rare in apart},
        )


@dataclass(frozen=True)
class Functions:
    """Functions that kernels take into their modules.

    Attributes:
        definitions: Their text.
        module: What they need beside it.
    """

    definitions: tuple[str, ...]
    module: ModuleText
