"""Writes a text of another compiler as a Python program of ttnn calls.

A program has a function for each entry point, and one for each function that runs once (``ttcore.load_cached``). What
an entry point reads besides its arguments, constants and the results of those functions, ``prepare`` makes. Constants
of many numbers lie in a file of torch beside the program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.compiler.texts.placed_tensors import MainCall, main_source, placing_functions
from ttnn_jit.compiler.texts.text_programs import TextModule, constant_tensor
from ttnn_jit.diagnostics.errors import CompileError, InternalError
from ttnn_jit.dialects.functions import single_function
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.emitpy import WrittenFunction, identifier, indented, placement, write_function
from ttnn_jit.emitpy.value_text import call_text, value_text
from ttnn_jit.frontend.ir.device_lowering import DeviceLowering, DeviceText
from ttnn_jit.frontend.ir.lowered_text import (
    Argument,
    Constant,
    HostResult,
    KeptResult,
    LoweredText,
    PartResult,
    Source,
)
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.transforms.passes.convert_stablehlo_to_ttir import StablehloToTTIRPipeline
from ttnn_jit.transforms.passes.stablehlo_pipeline import StablehloPipeline
from ttnn_jit.transforms.texts.registry import text_passes

if TYPE_CHECKING:
    import torch

INLINE_NUMBERS = 32
"""A constant of more numbers lies in the file beside the program."""
_INDENT = "    "
_RESERVED = ("torch", "ttnn", "constants", "device", "Path")


@dataclass(frozen=True)
class TranslatedEntry:
    """An entry point of a program.

    Attributes:
        name: The function.
        preparation: The function that makes what it reads behind its arguments; empty if it reads nothing else.
        arguments: The specs of its arguments; on a mesh those of whole tensors.
        distribution: On a mesh, the function that cuts whole tensors of torch as it takes them; else empty.
        aggregation: On a mesh, the function that joins what it returns; else empty.
    """

    name: str
    preparation: str
    arguments: tuple[TensorSpec, ...]
    distribution: str = ""
    aggregation: str = ""


@dataclass(frozen=True)
class TranslatedText:
    """A program in Python.

    Attributes:
        source: The program.
        constants: Tensors that it loads from a file beside it, by name.
        entries: Its entry points.
        mesh: The shape of its mesh; () of one device.
    """

    source: str
    constants: Mapping[str, torch.Tensor]
    entries: tuple[TranslatedEntry, ...] = ()
    mesh: tuple[int, ...] = ()


def translated(entries: Sequence[tuple[TextModule, str]], most_numbers: int | None = None) -> TranslatedText:
    """The program of entry points, each with its module.

    Args:
        entries: Entry points, each with its module.
        most_numbers: The most numbers of a constant; all are in the program then. None: those of more than
            `INLINE_NUMBERS` are in a file.

    Raises:
        CompileError: An op has no call in ttnn, or a constant is too large.
    """
    return _Writer(entries, most_numbers).program()


def on_chip(module: ModuleOp, *, on_mesh: bool = True) -> None:
    """StableHLO becomes TTIR, and element types those of a chip, for which ttnn has names; TTNN has them.

    Args:
        module: The module.
        on_mesh: Whether functions with shardings become functions on parts.
    """
    dialects = {name_of(op).partition(".")[0] for op in module.walk()}
    if dialects & {"stablehlo", "chlo", "sdy"}:
        if on_mesh and math.prod(mesh_of_text(module) or (1,)) > 1:
            StablehloPipeline().apply(None, module)  # type: ignore[arg-type]
        StablehloToTTIRPipeline().apply(None, module)  # type: ignore[arg-type]  # it needs no context
    if "ttnn" not in dialects:
        for each in text_passes("ttir-element-type-normalization", ""):
            each.apply(None, module)  # type: ignore[arg-type]


class _Writer:
    """Writes a program.

    Args:
        entries: Entry points, each with its module.
        most_numbers: The most numbers of a constant if all are in the program.
    """

    def __init__(self, entries: Sequence[tuple[TextModule, str]], most_numbers: int | None = None) -> None:
        self._entries = entries
        self._most_numbers = most_numbers
        self._functions: dict[tuple[int, str], WrittenFunction] = {}
        self._used = {*_RESERVED}
        self._constants: dict[str, torch.Tensor] = {}
        self._device_texts: dict[tuple[int, str], DeviceText] = {}

    def program(self) -> TranslatedText:
        """The program, and the constants that it loads."""
        entries = [self._written(*each) for each in self._entries]
        prepared, mains = [], []
        for (module, name), entry in zip(self._entries, entries, strict=True):
            steps = _Preparation(self, module, name, entry, is_only=len(self._entries) == 1)
            if steps.results:
                prepared.append(steps.source())
            mains.append(self._main_of(module, name, entry, steps))
        functions = [each.source for each in self._functions.values()]
        imports = ["from pathlib import Path", ""] if self._constants else []
        placed = [source for each in mains for source in each.placing]
        uses_torch = bool(placed) or any("torch." in each for each in prepared)
        imports += ["import torch"] * uses_torch + ["import ttnn"]
        main = self.free_name("main" if "main" not in self._used else "run")
        meshes = {module.mesh for module, _ in self._entries}
        if len(meshes) > 1:
            raise CompileError(
                "the text has modules for several meshes, and a program opens one",
                help="`--entry NAME` chooses an entry point",
            )
        extents = meshes.pop() if meshes else ()
        mesh = () if math.prod(extents) == 1 else (*(1,) * (2 - len(extents)), *extents)
        written = main_source(main, mesh, mains)
        source = "\n\n\n".join(["\n".join(imports), *functions, *prepared, *placed, written])
        called = tuple(
            TranslatedEntry(each.function, each.preparation, (*each.specs,), each.distribution, each.aggregation)
            for each in mains
        )
        return TranslatedText(source + "\n", self._constants, called, mesh)

    def _main_of(self, module: TextModule, name: str, entry: WrittenFunction, steps: _Preparation) -> MainCall:
        """What the main function does with an entry point."""
        on_device = self._on_device(module, name)
        if on_device is None:
            return MainCall(entry.name, steps.name, module.program(name).arguments)
        names = [
            self.free_name(each if len(self._entries) == 1 else f"{each}_{entry.name}")
            for each in ("distribute", "aggregate")
        ]
        arguments = entry.parameters[: len(on_device.arguments)]
        placing = placing_functions(names, entry.name, arguments, on_device, module.mesh)
        specs = tuple(each.spec for each in on_device.arguments)
        return MainCall(entry.name, steps.name, specs, names[0], names[1], placing)

    def _on_device(self, module: TextModule, name: str) -> DeviceText | None:
        """A function as each device of a mesh runs it; None on one device."""
        if math.prod(module.mesh) == 1:
            return None
        key = id(module), name
        if key not in self._device_texts:
            lowering = DeviceLowering(module.functions, module.target, name, module.mesh)
            is_entry = (module, name) in self._entries
            self._device_texts[key] = lowering.lower_on_device(module.functions[name], is_entry=is_entry)
        return self._device_texts[key]

    def lowered_text(self, module: TextModule, name: str) -> LoweredText:
        """A function in IR."""
        on_device = self._on_device(module, name)
        lowered = module.program(name).lowered if on_device is None else on_device.lowered
        lowered.require_no_host_calls("ops of ttnn")
        return lowered

    def _written(self, module: TextModule, name: str) -> WrittenFunction:
        key = id(module), name
        found = self._functions.get(key)
        if found is None:
            lowered = self.lowered_text(module, name)
            called = self.free_name(name)
            found = write_function(single_function(lowered.module), lowered.names, called, (*self._used,))
            self._functions[key] = found
        return found

    def lowered(self, module: TextModule, name: str) -> tuple[WrittenFunction, LoweredText]:
        """A function in Python, and in IR."""
        return self._written(module, name), self.lowered_text(module, name)

    def free_name(self, hint: str) -> str:
        """A name of a function that none has yet."""
        name = identifier(hint)
        found = next(each for index in count() if (each := f"{name}_{index}" if index else name) not in self._used)
        self._used.add(found)
        return found

    def constant(self, hint: str, constant: Constant, spec: TensorSpec) -> str:
        """The source of a constant as a tensor of torch."""
        tensor = constant_tensor(constant.numbers, spec)
        most = INLINE_NUMBERS if self._most_numbers is None else self._most_numbers
        if tensor.numel() <= most:
            return f"torch.tensor({tensor.tolist()!r}, dtype={tensor.dtype})"
        if self._most_numbers is not None:
            raise CompileError(
                f"a constant of {tensor.numel():,} numbers: a program without a file beside it has at most {most:,}",
                help="`ttmlir-translate --mlir-to-python` of the module of TTNN writes such a file",
            )
        name = next(each for index in count() if (each := f"{hint}_{index}" if index else hint) not in self._constants)
        self._constants[name] = tensor
        return f'constants["{name}"]'


class _Preparation:
    """What one entry point reads besides its arguments.

    Attributes:
        name: The name of the function that makes it.
        results: The sources of what it returns.
    """

    def __init__(
        self, writer: _Writer, module: TextModule, name: str, entry: WrittenFunction, *, is_only: bool
    ) -> None:
        self._writer = writer
        self._module = module
        self._lines: list[str] = []
        self._made: dict[tuple[int, str] | tuple[str, tuple[str, ...]], str] = {}
        self._used = {*_RESERVED, *entry.parameters}
        lowered = writer.lowered_text(module, name)
        self._arguments = [
            parameter
            for parameter, source in zip(entry.parameters, lowered.inputs, strict=False)
            if isinstance(source, Argument)
        ]
        self._entry = entry
        self.results = [
            self._expression(source, self._arguments, spec, parameter)
            for source, spec, parameter in zip(lowered.inputs, lowered.specs, entry.parameters, strict=False)
            if not isinstance(source, Argument)
        ]
        self.name = writer.free_name("prepare" if is_only else f"prepare_{entry.name}") if self.results else ""

    def source(self) -> str:
        """The function."""
        lines = [f"def {self.name}({', '.join(['device', *self._arguments])}):"]
        lines.append(f'{_INDENT}"""What `{self._entry.name}` reads besides its arguments, made once."""')
        if any("constants[" in each for each in self._lines):
            lines.append(f'{_INDENT}constants = torch.load(Path(__file__).with_suffix(".pt"))')
        lines += map(indented, self._lines)
        lines.append(f"{_INDENT}return [{', '.join(self.results)}]")
        return "\n".join(lines)

    def _expression(self, source: Source, arguments: Sequence[str], spec: TensorSpec, hint: str) -> str:
        match source:
            case Argument(index):
                return arguments[index]
            case Constant(numbers):
                made = self._writer.constant(hint, source, spec)
                line = call_text("ttnn.from_torch", [made, placement(spec), "device=device"])
                return self._assigned((id(numbers), value_text(spec.dtype)), line, hint)
            case KeptResult(callee, operands, index):
                return self._kept(callee, operands, index, arguments, hint)
            case PartResult() | HostResult():
                raise InternalError("a program that calls functions of the host's module is refused before")

    def _kept(self, callee: str, operands: Sequence[Source], index: int, arguments: Sequence[str], hint: str) -> str:
        function, lowered = self._writer.lowered(self._module, callee)
        specs = iter(lowered.specs)
        given = [self._expression(each, arguments, next(specs), "value") for each in operands]
        passed = [
            self._expression(source, given, spec, parameter)
            for source, spec, parameter in zip(lowered.inputs, lowered.specs, function.parameters, strict=False)
        ]
        call = f"{function.name}({', '.join(passed or ['device'])})"
        is_one = len(lowered.results) == 1
        name = self._assigned((function.name, (*passed,)), call, hint if is_one else f"{function.name}_results")
        return name if is_one else f"{name}[{index}]"

    def _assigned(self, key: tuple[int, str] | tuple[str, tuple[str, ...]], line: str, hint: str) -> str:
        """The variable of a value, which a line is written for once."""
        if key not in self._made:
            base = identifier(hint)
            taken = self._used | {*self._made.values()}
            taken -= {hint} - {*self._arguments, *self._made.values()}
            self._made[key] = next(
                each for index in count() if (each := f"{base}_{index}" if index else base) not in taken
            )
            self._lines.append(f"{self._made[key]} = {line}")
        return self._made[key]
