"""Binaries: the module of a compiled program, with its programs and their inputs and outputs."""

from __future__ import annotations

import math
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self
from weakref import WeakValueDictionary

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.binaries.debug_information import Goldens, Stages, debug_tree, goldens_in, stages_in
from ttnn_jit.binaries.module_to_tables import ModuleWriter, has_tables, programs_of
from ttnn_jit.binaries.tables_to_module import module_of_tree
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import ArgumentError, ProgramFormatError, TtnnJitError
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.schemas.binary_file import FileContents, file_head, identifier_of, read_file, write_file
from ttnn_jit.schemas.json_text import json_text
from ttnn_jit.schemas.schema import schema
from ttnn_jit.specs import target as targets
from ttnn_jit.ttmlir.ttmlir_runtime.data_types import TORCH_DTYPES, DataType, device_dtype
from ttnn_jit.ttmlir.ttmlir_runtime.described_files import DescribedPrograms
from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription, load_system_desc_from_path
from ttnn_jit.ttmlir.ttmlir_runtime.golden_tensors import GoldenTensor
from ttnn_jit.ttmlir.ttmlir_runtime.metal_binary import MetalBinary

IDENTIFIER = "TTNN"
_LOADED: WeakValueDictionary[tuple[bytes, targets.SystemDesc], TextModule] = WeakValueDictionary()
"""Digest of a file and target -> its functions, while a binary of it lives."""


class Binary(DescribedPrograms):
    """A program that the runtime submits.

    Args:
        module: Its module.
        contents: What was read of a file; None of a binary that is made of a module.
        goldens: Tensors to which results of operations are compared.
        stages: Names and texts of the module after stages.

    Attributes:
        id: Its number in this process.
        target: Whose numbers its programs compute, if it is set before they run; None: those of a cpu.
        is_of_kernels: Whether its module consists of scheduled kernels, which run together.
    """

    _made = 0
    is_of_kernels = False
    target: targets.SystemDesc | None = None

    file_identifier = IDENTIFIER

    def __init__(
        self,
        module: ModuleOp,
        contents: FileContents | None = None,
        goldens: Goldens | None = None,
        stages: Stages = (),
    ) -> None:
        self._module = module
        self._contents = contents
        self._goldens: Goldens = goldens or {}
        self._stages = stages
        self._digest: bytes | None = None
        Binary._made += 1
        self.id = Binary._made

    @classmethod
    def of_module(cls, module: ModuleOp, goldens: Goldens | None = None, stages: Stages = ()) -> Self:
        """The binary of a module, which may change afterwards."""
        return cls(module.clone(), None, goldens, stages)

    @classmethod
    def parse(cls, text: str, name: str = "the text") -> Self:
        """The binary of the module in a text.

        Raises:
            CompileError: The text is no module.
            ArgumentError: It holds several, or none.
        """
        modules = parse_texts(text, name)
        if len(modules) != 1:
            raise ArgumentError(f"a binary is of one module, and {name} holds {len(modules)}")
        return cls(modules[0])

    @classmethod
    def load(cls, path: str | Path, *, ignore_version: bool = False) -> Self:
        """The binary in a file, whose tables of operations are what it executes.

        Args:
            path: The file.
            ignore_version: Whether a file of another version or schema is read as far as its tables fit.

        Raises:
            ProgramFormatError: The file is no binary of ttnn, of another version or schema, or damaged.
            OSError: It cannot be read.
        """
        return cls.of_bytes(Path(path).read_bytes(), str(path), ignore_version=ignore_version)

    @classmethod
    def of_bytes(cls, data: bytes, name: str = "the binary", *, ignore_version: bool = False) -> Self:
        """The binary in the bytes of a file; see `load`."""
        contents = read_file(data, name, IDENTIFIER, ignore_version=ignore_version)
        try:
            module = module_of_tree(contents.schema, contents.tree)
            verify_upstream(module)
        except TtnnJitError as error:
            raise ProgramFormatError(f"{name}: {error.message}") from error
        made = cls(module, contents)
        made._digest = sha256(data).digest()
        return made

    def of_text(self) -> Binary:
        """A binary of the text of the module inside this one, the other way to execute it.

        Raises:
            CompileError: It holds no text, or one of something else.
        """
        source = self._tree.get("mlir", {}).get("source", "")
        module = Binary.parse(source, "the text of the binary").module
        return Binary(module, None, self.goldens(), self.stages())

    def save(self, path: str | Path) -> None:
        """Writes the binary; equal modules, goldens and stages give equal bytes.

        Raises:
            CompileError: A binary has no table for an operation or a type.
            OSError: The file cannot be written; nothing of it is.
        """
        write_complete(Path(path), [self.to_bytes()])

    def store(self, path: str | Path) -> None:
        """Does what `save` does."""
        self.save(path)

    def to_bytes(self) -> bytes:
        """The bytes of the file; see `save`."""
        tree = self._tree if self._contents is not None else ModuleWriter(self._module).tree(self._debug_tree())
        if self._contents is not None and self._contents.schema is not schema():
            raise ProgramFormatError(
                f"the binary is of the schema of {self._contents.schema.version}, and that of August 2026 is written",
                help="`Binary.of_module(binary.module)` makes one of its module",
            )
        return write_file(tree, IDENTIFIER)

    def _debug_tree(self) -> dict[str, Any]:
        return debug_tree(self._goldens, self._stages)

    @cached_property
    def _tree(self) -> dict[str, Any]:
        """The root table; programs of operations that have no table are described without them."""
        if self._contents is not None:
            return self._contents.tree
        writer = ModuleWriter(self._module)
        tree = writer.tree(self._debug_tree(), with_operations=has_tables(self._module))
        return file_head() | tree

    @property
    def module(self) -> ModuleOp:
        """Its module, which may be changed before its functions are first used."""
        self._digest = None
        return self._module

    @cached_property
    def text_module(self) -> TextModule:
        """Its functions; those of files with equal bytes are the same, so that what they keep is kept once."""
        target = self.target or targets.resolve_target("cpu")
        if self._digest is None:
            return TextModule(self._module, target, mesh_of(self._module))
        found = _LOADED.get((self._digest, target))
        if found is None:
            found = _LOADED[self._digest, target] = TextModule(self._module, target, mesh_of(self._module))
        return found

    @cached_property
    def names(self) -> list[str]:
        """The names of its programs, in order."""
        if self._contents is not None:
            return [each["name"] for each in self.programs]
        return [*programs_of(self._module)]

    def lower(self) -> None:
        """Lowers every program, which otherwise happens when it is first described or run.

        Raises:
            CompileError: An operation is not executed here.
        """
        for name in self.names:
            self.text_module.program(name)

    def inputs(self, program_index: int) -> list[dict[str, Any]]:
        """The references of a program's inputs: shapes, data types, layouts, what is cut over devices."""
        return [_on_device(each) for each in super().inputs(program_index)]

    def outputs(self, program_index: int) -> list[dict[str, Any]]:
        """The references of a program's outputs."""
        return [_on_device(each) for each in super().outputs(program_index)]

    def get_program_ops_as_json(self, program_index: int) -> str:
        """The operations of a program."""
        return json_text(self.programs[program_index].get("operations", []))

    def presharded_results(self, program_index: int) -> list[bool]:
        """Whether each result has a part per device, as its attributes say."""
        return [each["desc"]["shard_status"] == "Presharded" for each in self.outputs(program_index)]

    def goldens(self) -> Goldens:
        """Location -> device -> the tensor to which the result of the operation is compared."""
        return self._goldens if self._contents is None else goldens_in(self._tree)

    def get_debug_info_golden(self, loc: str) -> dict[int, GoldenTensor]:
        """Device -> the golden of the operation at a location; empty if there is none."""
        return {device: GoldenTensor(golden) for device, golden in self.goldens().get(loc, {}).items()}

    def stages(self) -> list[tuple[str, str]]:
        """Names and texts of the module after stages."""
        return [*self._stages] if self._contents is None else stages_in(self._tree)


def _on_device(tree: dict[str, Any]) -> dict[str, Any]:
    """A reference whose data type is the one that a tensor of ttnn would have."""
    memory = tree["desc"]["layout"]["memory_desc"]
    held = TORCH_DTYPES.get(DataType[memory["data_type"]])
    if held is None or device_dtype(held) == held:
        return tree
    kind = next(kind for kind, dtype in TORCH_DTYPES.items() if dtype == device_dtype(held))
    layout = tree["desc"]["layout"] | {"memory_desc": memory | {"data_type": kind.name}}
    return tree | {"desc": tree["desc"] | {"layout": layout}}


def mesh_of(module: ModuleOp) -> tuple[int, ...]:
    """The extents of the mesh that a module names; one device if it names none."""
    meshes = module.attributes.get("ttcore.meshes")
    if meshes is None:
        return (1,)
    shape = tuple(meshes.value("meshes")[0].value("shape"))  # type: ignore[attr-defined]  # a table's attribute
    return shape if math.prod(shape) > 1 else (1,)


def load_binary_from_capsule(capsule: Binary) -> Binary:
    """The binary that a pipeline gave."""
    return capsule


def load_binary_from_path(path: str) -> Binary | MetalBinary:
    """The binary in a file: of ttnn (see `Binary.load`), or of ttmetal, which is described alone."""
    return load_binary_from_bytes(Path(path).read_bytes(), path)


def load_binary_from_bytes(data: bytes, name: str = "the binary") -> Binary | MetalBinary:
    """The binary in the bytes of a file; see `load_binary_from_path`."""
    return MetalBinary(data, name) if identifier_of(data) == "TTM0" else Binary.of_bytes(data, name)


SystemDesc = SystemDescription
Flatbuffer = Binary | MetalBinary | SystemDescription


def load_from_path(path: str) -> Flatbuffer:
    """The binary or the description of a system in a file.

    Raises:
        ProgramFormatError: It is neither.
        ArgumentError: It cannot be read.
    """
    return load_system_desc_from_path(path) if path.endswith(".ttsys") else load_binary_from_path(path)


__all__ = [
    "Binary", "Flatbuffer", "GoldenTensor", "MetalBinary", "SystemDesc", "load_binary_from_bytes",
    "load_binary_from_capsule", "load_binary_from_path", "load_from_path", "load_system_desc_from_path",
]  # fmt: skip
