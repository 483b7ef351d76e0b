"""Arguments of texts that state no sharding, cut along their batches: `automatic-arg-analysis`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.writing.editing import erase, insert_before

_KIND = "ttcore.argument_type"
_RANK_OF_IMAGES = 4
"""The least rank of tensors with a batch, where no argument says what it is."""


def cut_batches(module: ModuleOp, extents: Sequence[int]) -> None:
    """States how the arguments of a module's functions are cut: those of the greatest rank along their first dimension.

    Where arguments say what they are, only inputs are cut; else arguments of at least four dimensions. The module gets
    a mesh with the axes `default` and `batch`. As in tt-mlir, nothing is said of the other dimensions.

    Args:
        module: The module.
        extents: The extents of the mesh.

    Raises:
        CompileError: The mesh is none of one row, or only some arguments say what they are.
    """
    if not extents:
        raise CompileError("User did not provide a mesh")
    if len(extents) != 2 or extents[0] != 1:
        raise CompileError(
            "Currently, automatic arg analysis only supports 2d mesh shape and mesh shape dim0 must be 1"
        )
    for op in [each for each in module.body.block.ops if name_of(each) == "sdy.mesh"]:
        erase(op)
    first = module.body.block.first_op
    assert first is not None, "a module that is cut has functions"
    axes = parsed(f'#sdy.mesh<["default"={extents[0]}, "batch"={extents[1]}]>')
    mesh = operation_kind("sdy.mesh").create(properties={"sym_name": StringAttr("mesh"), "mesh": axes})
    mesh.location = module.location
    insert_before(mesh, first)
    functions = [each for each in functions_of(module) if each.body.blocks]
    says_kinds = any(_KIND in each.data for function in functions for each in function.arg_attrs or ())
    for function in functions:
        _cut(function, says_kinds=says_kinds)


def _cut(function: FuncOp, *, says_kinds: bool) -> None:
    arguments = function.body.block.args
    given = [*(function.arg_attrs or [DictionaryAttr({})] * len(arguments))]
    if says_kinds and any(_KIND not in each.data for each in given):
        raise CompileError(
            "some arguments have a `ttcore.argument_type`, and others not", location=location_of(function)
        )
    is_input = [not says_kinds or "<input>" in str(each.data[_KIND]) for each in given]
    shapes = [each.type.get_shape() if isinstance(each.type, TensorType) else () for each in arguments]
    ranks = [len(shape) for shape, counts in zip(shapes, is_input, strict=True) if counts]
    largest = max([*ranks, 0 if says_kinds else _RANK_OF_IMAGES])
    for index, shape in enumerate(shapes):
        cuts = is_input[index] and len(shape) == largest > 0 and (says_kinds or shape[0] != 1)
        if isinstance(arguments[index].type, TensorType):
            given[index] = DictionaryAttr({**given[index].data, "sdy.sharding": _sharding(len(shape), cuts=cuts)})
    function.arg_attrs = ArrayAttr(given)


def _sharding(rank: int, *, cuts: bool) -> Attribute:
    dimensions = ['{"batch", ?}' if cuts and index == 0 else "{?}" for index in range(rank)]
    return parsed(f"#sdy.sharding<@mesh, [{', '.join(dimensions)}]>")
