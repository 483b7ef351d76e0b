"""`convert-ttnn-to-emitpy` and the pipelines that end with it, as passes of the command line and of pass managers."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from ttnn_jit.compiler.texts.emitpy_functions import BodyWriter, emitpy_op, list_type, opaque, symbol
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.translated_programs import TranslatedEntry, TranslatedText, translated
from ttnn_jit.diagnostics.errors import ArgumentError, RefusalError
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer
from ttnn_jit.dialects.writing.editing import detach_all
from ttnn_jit.emitpy import placement
from ttnn_jit.frontend.ir.texts import entries_of
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms.texts.registry import text_passes

INLINE_NUMBERS = 1 << 16
"""A larger constant, unless all its numbers are equal, is refused: a module of emitpy has no file beside it."""
_OWN_OPTIONS = {
    "split-files": "false",
    "target-module": "false",
    "try-recover-structure": "false",
    "load-input-tensors-from-disk": "false",
    "tensor-load-directory": "",
    "tensor-load-file-prefix": "arg",
}
_FIXED = {
    "split-files": "one file is written",
    "try-recover-structure": "functions of the text are not split",
}
"""Options that only have their default here -> why."""


@dataclass(frozen=True)
class ConvertTTNNToEmitPy(ModulePass):
    """Replaces the functions of a text of TTNN by functions of emitpy, with what makes inputs and a main function.

    Attributes:
        options: The options, ``name=value name=value``.
    """

    name: ClassVar[str] = "convert-ttnn-to-emitpy"

    options: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Changes the module.

        Raises:
            ArgumentError: An option is unknown, or has a value that is not honoured.
            CompileError: An operation has no call in ttnn.
        """
        own, others = _options_in(self.options)
        if others:
            raise ArgumentError(f"`{self.name}` has no option `{others.partition('=')[0]}`")
        mesh = mesh_of_text(op) or (1,)
        module = TextModule(op.clone(), PRESETS["cpu"], mesh)
        program = translated([(module, name) for name in entries_of(op)], INLINE_NUMBERS)
        if own["target-module"] == "true" and len(program.entries) != 1:
            raise ArgumentError(f"`target-module=true` takes one entry point, and there are {len(program.entries)}")
        made = _ModuleWriter(program, mesh, own).ops()
        for old in detach_all(op.body.block):
            old.drop_all_references()
        op.attributes = {}
        for each in made:
            op.body.block.add_op(each)


PIPELINES = {
    "convert-ttnn-to-emitpy": "",
    "ttnn-common-to-emitpy-pipeline": "",
    "ttnn-backend-to-emitpy-pipeline": "",
    "ttir-to-emitpy-pipeline": "ttir-to-ttnn-common-pipeline",
}
"""Names of the pass and its pipelines -> the pipeline before it."""


def emitpy_passes(name: str, options: str, ir_version: str = "") -> list[ModulePass]:
    """The passes of one of `PIPELINES`; options that are not of the text that is written are those of the one before.

    Raises:
        ArgumentError: An option is unknown or refused.
    """
    own, others = _options_in(options)
    written = " ".join(f"{key}={value}" for key, value in own.items() if value != _OWN_OPTIONS[key])
    before = PIPELINES[name]
    if not before:
        return [ConvertTTNNToEmitPy(f"{written} {others}".strip())]
    return [*text_passes(before, others, ir_version=ir_version), ConvertTTNNToEmitPy(written)]


def _options_in(text: str) -> tuple[dict[str, str], str]:
    """The options of the text that is written, and the others."""
    own, others = {**_OWN_OPTIONS}, []
    for each in text.split():
        name, _, value = each.partition("=")
        if name in own:
            own[name] = value
        else:
            others.append(each)
    for name, why in _FIXED.items():
        if own[name] != _OWN_OPTIONS[name]:
            raise RefusalError(f"`{name}={own[name]}` is not run here: {why}")
    return own, " ".join(others)


class _ModuleWriter:
    """Writes the module of a translated program.

    Args:
        program: The program.
        mesh: The extents of its mesh.
        options: The options of the text.
    """

    def __init__(self, program: TranslatedText, mesh: Sequence[int], options: dict[str, str]) -> None:
        self._program = program
        self._mesh = mesh
        self._options = options
        self._is_target_module = options["target-module"] == "true"
        self._arguments = ["input", "device"] if self._is_target_module else ["inputs"]
        tree = ast.parse(program.source)
        self._defined = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
        self._entries = {each.name: each for each in program.entries}
        preparations = {each.preparation for each in program.entries}
        self._helpers = [
            name
            for name in self._defined
            if name not in self._entries and name not in preparations and self._is_called(name)
        ]
        self._counts = {name: _result_count(self._defined[name]) for name in [*self._helpers, *self._entries]}

    def _is_called(self, name: str) -> bool:
        calls = (
            node for function in self._defined.values() for node in ast.walk(function) if isinstance(node, ast.Call)
        )
        return any(isinstance(each.func, ast.Name) and each.func.id == name for each in calls)

    def ops(self) -> list[Operation]:
        """The operations of the module."""
        modules = ["ttnn", *["torch"] * ("torch." in self._program.source), "utils"]
        found: list[Operation] = [emitpy_op("import", module_name=StringAttr(each)) for each in modules]
        found += [self._function(name) for name in self._helpers]
        for entry in self._entries.values():
            if entry.preparation:
                found.append(self._function(entry.preparation, _prepared(entry)))
                found.append(emitpy_op("global", sym_name=StringAttr(_cache(entry)), initial_value=opaque("None")))
            found += [self._entry(entry)] if self._is_target_module else [self._entry(entry), self._inputs(entry)]
        return found if self._is_target_module else [*found, self._main()]

    def _parameters(self, name: str) -> list[str]:
        return [each.arg for each in self._defined[name].args.args if each.arg != "device"]

    def _function(self, name: str, public: str = "") -> FuncOp:
        """A function that is called with a list; `public` is its name in the module."""
        writer = BodyWriter(self._counts, self._mesh, self._arguments)
        writer.bind(self._parameters(name), writer.block.args[0])
        writer.statements(self._defined[name].body)
        return writer.function(public or name, private=True)

    def _entry(self, entry: TranslatedEntry) -> FuncOp:
        """An entry point: what its preparation makes is kept in a global after the first call."""
        writer = BodyWriter(self._counts, self._mesh, self._arguments)
        names, given = self._parameters(entry.name), len(entry.arguments)
        writer.bind(names[:given], writer.block.args[0])
        if entry.preparation:
            cache = _cache(entry)
            kept = writer.add(emitpy_op("global_statement", results=[list_type()], name=symbol(cache))).results[0]
            block = Block()
            made = CallOp(_prepared(entry), writer.block.args, [list_type()])
            block.add_ops([made, emitpy_op("assign_global", made.results, name=symbol(cache))])
            condition = StringAttr("{} is None")
            writer.add(emitpy_op("if", [kept], regions=[Region(block), Region()], condition=condition))
            writer.bind(names[given:], kept)
        writer.statements(self._defined[entry.name].body)
        return writer.function("forward" if self._is_target_module else _public(entry))

    def _inputs(self, entry: TranslatedEntry) -> FuncOp:
        """The function that makes the inputs of an entry point: ones, or tensors of files."""
        writer = BodyWriter(self._counts, self._mesh, [])
        made = [writer.value(self._input(index, entry), "arg") for index in range(len(entry.arguments))]
        writer.returned(made)
        return writer.function(f"create_inputs_for_{_public(entry)}")

    def _input(self, index: int, entry: TranslatedEntry) -> ast.expr:
        spec = entry.arguments[index]
        place = placement(spec)
        if self._options["load-input-tensors-from-disk"] == "true":
            folder, prefix = self._options["tensor-load-directory"], self._options["tensor-load-file-prefix"]
            file = f"{folder}/{prefix}{index}.tensorbin" if folder else f"{prefix}{index}.tensorbin"
            options = {each.arg: ast.unparse(each.value) for each in _call(f"f({place})").keywords}
            memory = options.get("memory_config", "ttnn.DRAM_MEMORY_CONFIG")
            return _call(f'utils.load_tensor("{file}", {options["layout"]}, {options["dtype"]}, device, {memory})')
        return _call(f"ttnn.ones({list(spec.shape)}, {place}, device=device)")

    def _main(self) -> FuncOp:
        writer = BodyWriter(self._counts, self._mesh, [])
        for entry in self._entries.values():
            inputs = writer.add(CallOp(f"create_inputs_for_{_public(entry)}", [], [list_type()]))
            writer.add(CallOp(_public(entry), [inputs.results[0]], [list_type()]))
        zero = writer.add(emitpy_op("constant", results=[i32], value=integer(0, i32)))
        writer.add(ReturnOp(zero.results[0]))
        return writer.function("main", [i32])


def _call(text: str) -> ast.Call:
    found = ast.parse(text, mode="eval").body
    assert isinstance(found, ast.Call)
    return found


def _public(entry: TranslatedEntry) -> str:
    """The name of an entry point; the program's own main function has `main`."""
    return "_main" if entry.name == "main" else entry.name


def _prepared(entry: TranslatedEntry) -> str:
    """The name of the function that prepares an entry point: by its beginning tt-mlir's tools know that it is none."""
    return f"consteval_{_public(entry)}"


def _cache(entry: TranslatedEntry) -> str:
    return f"ce_cache_{_public(entry)}"


def _result_count(function: ast.FunctionDef) -> int:
    last = function.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    return len(value.elts) if isinstance(value, ast.Tuple | ast.List) else int(value is not None)
