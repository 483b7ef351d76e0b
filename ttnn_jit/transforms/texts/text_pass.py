"""What a pass over texts of tt-mlir is."""

from __future__ import annotations

import dataclasses
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_args, get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ttnn_jit.diagnostics.errors import ArgumentError, RefusalError
from ttnn_jit.dialects.upstream.rewriting.destinations import drop_destinations
from ttnn_jit.dialects.upstream.rewriting.rewriter import (
    DECEMBER,
    IR_VERSIONS,
    Rewriter,
    device_module,
    version_of,
)

_WORD = re.compile(r"""([\w.-]+)=("[^"]*"|'[^']*'|\{[^}]*\}|\S*)|(\S+)""")
_TRUE, _FALSE = {"true", "1"}, {"false", "0"}


@dataclass(frozen=True)
class TextPass(ModulePass):
    """A pass over texts; its fields are its options, with dashes for underscores.

    Attributes:
        ir_version: The version in whose form operations are written, a key of `IR_VERSIONS`; by default the one that
            the module's operations identify, else December 2025.
        refused: Options that upstream has and that are refused here -> why.
        default_version: The version in whose form operations are written if neither an option nor the module says it.
    """

    refused: ClassVar[Mapping[str, str]] = {}
    default_version: ClassVar[str] = DECEMBER

    ir_version: str = ""

    def __post_init__(self) -> None:
        """Checks the version."""
        if self.ir_version not in {"", *IR_VERSIONS}:
            raise ArgumentError(
                f"`--ir-version={self.ir_version}`: the versions are {', '.join(IR_VERSIONS)}",
                help="without it the module's operations decide",
            )

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Changes the module on the device, which is `op` or lies in it."""
        module = device_module(op)
        version = IR_VERSIONS[self.ir_version] if self.ir_version else version_of(module, self.default_version)
        rewriter = Rewriter(version)
        drop_destinations(module, rewriter)
        self.change(module, rewriter)

    @abstractmethod
    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Changes a module."""

    @classmethod
    def with_options(cls, text: str) -> Self:
        """The pass with the options of a command line: ``name=value name=1,2``.

        Raises:
            ArgumentError: An option is unknown, or has a wrong value.
            RefusalError: One is refused.
        """
        types = get_type_hints(cls)
        names = {field.name.replace("_", "-"): types[field.name] for field in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for name, value in _options_in(text, cls.name):
            if name in cls.refused:
                _refuse(cls.name, name, value, cls.refused[name])
            elif name not in names:
                known = ", ".join([*names, *cls.refused])
                raise ArgumentError(f"`{cls.name}` has no option `{name}`", help=f"its options are {known}")
            else:
                values[name.replace("-", "_")] = _value_of(names[name], value, f"{cls.name}: {name}")
        return cls(**values)


def _options_in(text: str, owner: str) -> Iterator[tuple[str, str]]:
    for match in _WORD.finditer(text.strip()):
        if match[3] is not None:
            raise ArgumentError(f"`{owner}`: an option is `name=value`, got {match[3]!r}")
        value = match[2]
        quoted = value[:1] in {'"', "'", "{"}
        yield match[1], value[1:-1] if quoted else value


def _refuse(owner: str, name: str, value: str, reason: str) -> None:
    """Refuses an option, unless its value asks for nothing."""
    if value.lower() not in _FALSE:
        raise RefusalError(f"`{owner}` does not take `{name}` here: {reason}")


def _value_of(kind: Any, text: str, where: str) -> Any:
    try:
        if kind is bool:
            if text.lower() not in _TRUE | _FALSE:
                raise ValueError("it is true or false")
            return text.lower() in _TRUE
        if kind in {int, float, str}:
            return kind(text)
        (each, _) = get_args(kind)
        return tuple(each(part) for part in text.split(",") if part)
    except ValueError as error:
        raise ArgumentError(f"`{where}`: {text!r} is no value of it: {error}") from None


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """The functions of a module that have a body, outside `ttcore.cpu_module`."""
    found: list[FuncOp] = []
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.body.blocks:
            found.append(op)
        elif isinstance(op, ModuleOp) or op.name == "ttcore.device_module":
            for block in op.regions[0].blocks:
                inner = [each for each in block.ops if isinstance(each, ModuleOp)]
                found += [each for one in inner for each in functions_of(one)]
                found += [each for each in block.ops if isinstance(each, FuncOp) and each.body.blocks]
    return [*dict.fromkeys(found)]


@dataclass(frozen=True)
class TextPipeline(TextPass):
    """A pass that stands for several; a command line runs those."""

    @abstractmethod
    def passes(self) -> tuple[TextPass, ...]:
        """The passes in order."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Runs them one after the other."""
        for each in self.passes():
            each.apply(ctx, op)

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Does nothing: the passes change the module."""
