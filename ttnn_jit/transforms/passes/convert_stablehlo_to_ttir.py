"""convert-stablehlo-to-ttir: replaces ops of StableHLO, CHLO and Shardy by ops of TTIR."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ComplexType, FunctionType, ModuleOp, SymbolRefAttr, TensorType, f32
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.attribute_writer import attribute_of
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.text_calls.op_calls import OpCall, bound_op, conversion_call, errors_at, tensor_at
from ttnn_jit.dialects.text_calls.shards import shard_tilings
from ttnn_jit.dialects.text_calls.tensor_types import element_in_text
from ttnn_jit.dialects.text_calls.text_attributes import attributes_of, name_of
from ttnn_jit.dialects.text_calls.ttir_writer import TtirWriter
from ttnn_jit.dialects.upstream.rewriting.composite_calls import composite
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.writing.editing import insert_before, ops_of
from ttnn_jit.ops.conversions.converted_shards import PRODUCER, mesh_shard
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor
from ttnn_jit.ops.families.dialect_conversion import Conversion
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.transforms.passes.inline import Inline
from ttnn_jit.transforms.shardings.shard_statuses import keep_parts, take_wholes
from ttnn_jit.transforms.shardings.single_mesh import unify_meshes

DIALECTS = frozenset({"stablehlo", "chlo", "sdy"})


@dataclass(frozen=True)
class ConvertStablehloToTTIR(ModulePass):
    """Replaces every op of StableHLO, CHLO and Shardy by the ops of TTIR that its declaration says.

    A composite becomes a call of its decomposition. Raises CompileError at an op that TTIR has no counterpart of.
    """

    name = "convert-stablehlo-to-ttir"
    over_texts = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Converts the functions of the module `op`."""
        convert(op, DIALECTS)


@dataclass(frozen=True)
class StablehloToTTIRPipeline(ModulePass):
    """`convert-stablehlo-to-ttir`, and then `inline`: composites are their decompositions."""

    name = "stablehlo-to-ttir-pipeline"
    over_texts = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts the functions of the module `op`, and inlines their calls."""
        convert(op, DIALECTS)
        _convert_constants(op)
        _state_meshes(op)
        Inline().apply(ctx, op)
        keep_parts(op)
        take_wholes(op)


def _state_meshes(module: ModuleOp) -> None:
    """Replaces the meshes of Shardy by the module's `ttcore.meshes`, if it has none."""
    found = []
    for mesh in [each for each in module.walk() if name_of(each).startswith("sdy.")]:
        axes = attributes_of(mesh)["mesh"].get("axes", ())
        shape = "x".join(str(axis["size"]) for axis in axes)
        found += [f'<"{attributes_of(mesh)["sym_name"]}" = {shape}>'] if axes else []
        _remove(mesh)
    if found and "ttcore.meshes" not in module.attributes:
        module.attributes["ttcore.meshes"] = parsed(f"#ttcore.meshes<[{', '.join(found)}]>")


def _convert_constants(module: ModuleOp) -> None:
    """Replaces the tensors of `arith.constant`, which jax's and torch's texts may hold beside StableHLO."""
    rewriter = Rewriter()
    for op in [each for each in module.walk() if name_of(each) == "arith.constant"]:
        if isinstance(op.results[0].type, TensorType):
            value = rewriter.value("ttir.constant", {}, {"value": op.properties["value"]}, op.results[0].type, op)
            rewriter.replace(op, [value])


def convert(module: ModuleOp, dialects: Collection[str]) -> None:
    """Converts every op of some dialects in the functions of a module.

    Raises:
        CompileError: TTIR has no counterpart of an op.
    """
    if "sdy" in dialects:
        unify_meshes(module)
    mesh = mesh_of_text(module) or (1,)
    for function in [each for each in module.walk() if isinstance(each, FuncOp)]:
        if function.body.first_block:
            _convert_block(function.body.block, dialects, mesh)
        kind = function.function_type
        function.function_type = FunctionType.from_lists(
            [*map(_in_parts, kind.inputs)], [*map(_in_parts, kind.outputs)]
        )


def convert_composites(module: ModuleOp) -> None:
    """Converts the composites of a module that TTIR has an operation for; others stay.

    Raises:
        CompileError: One does not fit its operation.
    """
    mesh = mesh_of_text(module) or (1,)
    for op in [each for each in module.walk() if name_of(each) == "stablehlo.composite"]:
        read = bound_op(op)
        if f"{name_of(op)}@{read.arguments['name']}" in text_operations():
            for made in reversed(_convert_op(op, read, mesh)):
                if made.results and not any(result.first_use for result in made.results):
                    _remove(made)


def _convert_block(block: Block, dialects: Collection[str], mesh: Sequence[int]) -> None:
    written: list[Operation] = []
    converted = [op for op in ops_of(block) if name_of(op).partition(".")[0] in dialects]
    # What an op says of its operands is read before the ops that make these are replaced.
    last = block.last_op
    before = [bound_op(op) for op in converted if op is not last]
    others = [op for op in ops_of(block) if name_of(op).partition(".")[0] not in dialects]
    for value in (*block.args, *(each for op in others for each in op.results)):
        value._type = _in_parts(value.type)
    for op, read in zip(converted, before, strict=False):
        if read.operation.role is Role.SHARDS:
            _cut_out(op, read, dialects, mesh)
        else:
            written += _convert_op(op, read, mesh)
    for op in reversed(written):
        if not any(result.first_use for result in op.results) and op.results:
            _remove(op)


def _cut_out(op: Operation, read: OpCall, dialects: Collection[str], mesh: Sequence[int]) -> None:
    """Replaces a manual computation by its ops, between those that cut its operands and join its results."""
    _convert_block(op.regions[0].block, dialects, mesh)
    block = op.regions[0].block
    with errors_at(op):
        given, wanted = shard_tilings(read)
        writer = TtirWriter(mesh, _elements(op), op.location)
        pairs = zip(op.operands, block.args, given, strict=True)
        shards = [
            mesh_shard(writer, tensor_at(value), tensor_at(argument), "full_to_shard", tiling)
            for value, argument, tiling in pairs
        ]
        for argument, shard in zip(block.args, shards, strict=True):
            argument.replace_all_uses_with(shard.handle)
        last = block.last_op
        assert last is not None, "a region ends with what it returns"
        joining = TtirWriter(mesh, _elements(op), op.location)
        joined = [
            mesh_shard(joining, tensor_at(value), _pairs(result), "shard_to_full", tiling)
            for value, result, tiling in zip(last.operands, op.results, wanted, strict=True)
        ]
    inner = ops_of(block)[:-1]
    for each in inner:
        each.detach()  # type: ignore[no-untyped-call]
    _replace(op, [*writer.ops, *inner, *joining.ops], [each.handle for each in joined])


def _convert_op(op: Operation, before: OpCall, mesh: Sequence[int]) -> list[Operation]:
    """Replaces an op, read before any was replaced; the ops that do."""
    of_producer = {name: value for name, value in before.arguments.items() if name.startswith(PRODUCER)}
    read = bound_op(op)
    read = replace(
        read,
        arguments={**read.arguments, **of_producer},
        numbers=before.numbers,
        element_types=before.element_types,
    )
    if read.operation.role is Role.NOTHING:
        return [op]
    if read.operation.role is Role.CALLS:
        known = text_operations().get(f"{name_of(op)}@{read.arguments['name']}")
        if known is None:
            call_decomposition(op, read, [*map(_in_parts, op.result_types)])
            return []
        read = bound_op(op, known)
    if not isinstance(read.operation, Conversion):
        raise CompileError(f"`{name_of(op)}` has no counterpart in TTIR", location=location_of(op))
    if read.operation.composite:
        _write_composite(op, read, read.operation, mesh)
        return []
    writer = TtirWriter(mesh, _elements(op), op.location)
    with errors_at(op):
        found = read.operation.converted(writer, conversion_call(op, read))
    _replace(op, writer.ops, [each.handle for each in found])
    return writer.ops


def _write_composite(op: Operation, read: OpCall, operation: Conversion, mesh: Sequence[int]) -> None:
    """Replaces an op by a composite, whose function computes what the op does."""

    def body(values: Sequence[SSAValue], at: Operation) -> SSAValue:
        inner = dict(zip(op.operands, values, strict=True))
        kinds = conversion_call(op, read).results
        call = ConversionCall.of(vars(read.call(lambda value: tensor_at(inner[value]))) | {"results": kinds}, kinds)
        writer = TtirWriter(mesh, _elements(op), op.location)
        (found,) = operation.converted(writer, call)
        for each in writer.ops:
            insert_before(each, at)
        made: SSAValue = found.handle
        return made

    with errors_at(op):
        rewriter = Rewriter()
        row = rewriter.row(f"ttnn.{operation.composite}")
        assert row is not None, "the operation is one of TTNN"
        kinds = {each.name: each.kind for each in row.attributes}
        given = operation.composite_attributes(conversion_call(op, read))
        attributes = {key: attribute_of(value, kinds.get(key, "BoolAttr"), f32) for key, value in given.items()}
        type_ = op.results[0].type
        value = composite(operation.composite, [*op.operands], type_, body, rewriter, op, attributes)
    _replace(op, [], [value])


def call_decomposition(op: Operation, read: OpCall, results: Sequence[Attribute]) -> None:
    """Replaces a composite by a call of its decomposition, whose results have the types `results`."""
    call = CallOp(SymbolRefAttr(read.arguments["decomposition"]), [*op.operands], [*results])
    call.location = op.location
    _replace(op, [call], call.results)


def _elements(op: Operation) -> dict[str, Attribute]:
    """Spelling -> element type, of the types of an op."""
    types = [each.type for each in (*op.operands, *op.results)]
    return {element_in_text(each): each.get_element_type() for each in types if isinstance(each, TensorType)}


def _in_parts(type_: Attribute) -> Attribute:
    """The type of floats whose last dimension holds the parts of complex numbers; another type itself."""
    if not isinstance(type_, TensorType) or not isinstance(element := type_.get_element_type(), ComplexType):
        return type_
    return TensorType(element.element_type, [*type_.get_shape(), 2])


def _pairs(value: SSAValue) -> Tensor:
    """The type of a value, which is that of parts if it has complex numbers."""
    type_ = _in_parts(value.type)
    return Tensor(tuple(type_.get_shape()) if isinstance(type_, TensorType) else (), element_in_text(type_))


def _replace(op: Operation, ops: Sequence[Operation], results: Sequence[SSAValue]) -> None:
    for each in ops:
        insert_before(each, op)
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    _remove(op)


def _remove(op: Operation) -> None:
    """Erases an op without uses."""
    block = op.parent
    assert block is not None, "the op is in a function or a module"
    block.erase_op(op)
