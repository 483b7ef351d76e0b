"""Modules are built with `ttmlir`, printed as mlir-opt does, lowered by pipelines and run by `_ttmlir_runtime`."""

import json

import pytest
import torch

import ttnn_jit
from tests.end_to_end.built_modules.made_modules import built, run, softmax_of_sum, tensor
from tests.end_to_end.texts.test_ops_of_texts import OPS, module_of
from tests.processes import run_python
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.ttmlir.attribute_builders import default_of

ttnn_jit.register_as_ttnn()

from _ttmlir_runtime import binary  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir import passes, util  # noqa: E402
from ttmlir.dialects import func, quant, stablehlo, ttcore, ttir, ttnn  # noqa: E402
from ttmlir.ir import (  # noqa: E402
    AffineMap,
    Attribute,
    BF16Type,
    BoolAttr,
    Context,
    DenseElementsAttr,
    DenseI64ArrayAttr,
    F32Type,
    InsertionPoint,
    IntegerAttr,
    IntegerType,
    Location,
    MLIRError,
    Module,
    OpView,
    StringAttr,
    Type,
    WalkOrder,
    WalkResult,
)
from ttmlir.passmanager import PassManager  # noqa: E402

WHOLE = {title: op for title, op in OPS.items() if title != "group of ttnn"}
"""Operations with all their operands: that one leaves out its device."""


def test_a_module_is_printed_as_mlir_opt_prints_it():
    module = built(softmax_of_sum, tensor(2, 8), tensor(2, 8))
    assert str(module) == (
        "module {\n"
        "  func.func @main(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xf32>) -> tensor<2x8xf32> {\n"
        '    %0 = "ttir.add"(%arg0, %arg1) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>\n'
        '    %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> : (tensor<2x8xf32>) -> tensor<2x8xf32>\n'
        "    return %1 : tensor<2x8xf32>\n"
        "  }\n"
        "}"
    )
    assert 'loc("softmax")' in util.debug_print_module(module)


@pytest.mark.parametrize("pipeline", [None, "ttir_to_ttnn_runtime_pipeline"])
def test_a_module_runs_before_and_behind_its_pipeline(pipeline):
    module = built(softmax_of_sum, tensor(2, 8), tensor(2, 8))
    if pipeline is not None:
        getattr(passes, pipeline)(module, "")
        assert "ttnn.softmax" in str(module)
    x, y = torch.randn(2, 8), torch.randn(8, 2).t()
    (result,) = run(module, x, y)
    torch.testing.assert_close(result.double(), (x + y).double().softmax(1), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("op", WHOLE.values(), ids=WHOLE)
def test_an_operation_is_made_again_from_its_parts(op):
    """What a parsed operation's class shows, given to the class, makes the operation again."""
    module = Module.parse(module_of(op))
    function = module.body.operations[0]
    old = function.entry_block.operations[0]
    assert isinstance(old, OpView)
    row = type(old)
    shown = {name: getattr(old, name) for name in vars(row) if isinstance(vars(row)[name], property)}
    left_out = {"operation", *results_of(old)}
    own = {name: value for name, value in shown.items() if value is not None and name not in left_out}
    with InsertionPoint(function.entry_block.operations[1]):
        new = row(*[each.type for each in old.results], loc=old.location, **own)
    assert parts(new) == parts(old)


def results_of(op):
    return {name for name in vars(type(op)) if name in {"result", "results_", "values", "output", "indices"}}


def parts(op):
    """An operation without the defaults that both versions of a text mean."""
    names = {each.name for row in tables.operation_rows(op.operation.name) for each in row.attributes}
    shown = {name: str(getattr(op, name)) for name in names}
    return (op.operation.name, shown, [str(each.type) for each in op.results], [*map(hash, op.operands)])


def test_attributes_of_dialects_are_made_and_read():
    shard = ttcore.ir.MeshShardDirectionAttr.get(Context(), ttcore.ir.MeshShardDirection.FullToShard)
    assert str(shard) == "#ttcore.shard_direction<full_to_shard>"
    assert shard.value == ttcore.ir.MeshShardDirection.FullToShard
    assert ttcore.ir.ReduceTypeAttr.get(Context(), 2).value == ttcore.ir.ReduceType.Max
    mesh = ttcore.ir.MeshAttr.get(Context(), "mesh", [1, 2])
    meshes = ttcore.ir.MeshesAttr.maybe_downcast(ttcore.ir.MeshesAttr.get(Context(), [mesh]))
    assert [(each.name, each.shape) for each in meshes.meshes] == [("mesh", [1, 2])]
    assert ttcore.ir.ReduceTypeAttr.maybe_downcast(shard) is None
    tile = ttcore.ir.TileType.get(Context(), 32, 32, ttcore.DataType.BFloat16)
    assert (str(tile), tile.shape, tile.data_type_as_int) == ("!ttcore.tile<32x32, bf16>", [32, 32], 2)
    direction = stablehlo.ComparisonDirectionAttr.get("LT")
    assert str(direction) == "#stablehlo<comparison_direction LT>"


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ([64, 96], "(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, f32>"),
        ([2, 3, 30, 40], "(d0 * 96 + d1 * 32 + d2, d3), <1x1>, memref<6x2x!ttcore.tile<32x32, f32>"),
        ([40], "(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>"),
    ],
)
def test_a_layout_is_made_of_a_shape(shape, expected):
    tile = ttcore.ir.TileType.get(Context(), 32, 32, ttcore.DataType.Float32)
    made = ttnn.ir.TTNNLayoutAttr.get(
        Context(), shape, tile, ttnn.BufferType.DRAM, [1, 1], None, ttnn.TensorMemoryLayout.Interleaved
    )
    assert expected in str(made)
    assert str(made).endswith("#ttnn.buffer_type<dram>>, <interleaved>>")


def test_a_quantized_type_is_made_and_read():
    made = quant.UniformQuantizedType.get(1, IntegerType.get_signless(8), F32Type.get(), 0.5, 3, -128, 127)
    assert str(made) == "!quant.uniform<i8:f32, 5.000000e-01:3>"
    assert (made.scale, made.zero_point) == (0.5, 3)


def test_attributes_have_the_defaults_of_the_declaration():
    module = Module.parse(module_of("ttir.matmul : 3x8xbf16, 8x5xbf16 -> 3x5xbf16"))
    matmul = module.body.operations[0].entry_block.operations[0]
    assert (matmul.transpose_a.value, matmul.transpose_b.value) == (False, False)


def test_every_default_of_a_dialects_enum_reads():
    """Each is an attribute of its kind; a case whose keyword is not its name in lower case is looked up."""
    rows = [row for name in tables.operation_names() for row in tables.operation_rows(name)]
    defaults = {
        (each.kind, each.default)
        for row in rows
        for each in row.attributes
        if each.default and each.kind.startswith("#") and "::" in each.default
    }
    read = {pair: str(default_of(pair[1], pair[0])) for pair in defaults}
    assert all(text.startswith(kind) for (kind, _), text in read.items())
    bfloat16 = ("#ttcore.supportedDataTypes", "mlir::tt::ttcore::DataType::BFloat16")
    assert read[bfloat16] == "#ttcore.supportedDataTypes<bf16>"


def test_options_of_a_pipeline_may_hold_braces():
    module = built(softmax_of_sum, tensor(2, 8), tensor(2, 8))
    text = "builtin.module(canonicalize{max-iterations={1}},ttir-to-ttnn-runtime-pipeline)"
    with pytest.raises(MLIRError, match="max-iterations"):
        PassManager.parse(text).run(module.operation)
    PassManager.parse("builtin.module(canonicalize, ttir-to-ttnn-runtime-pipeline)").run(module.operation)
    assert "ttnn.softmax" in str(module)


def test_a_value_takes_another_type():
    module = Module.parse(module_of("ttir.add : 3x8xf32, 3x8xf32 -> 3x8xf32"))
    add = module.body.operations[0].entry_block.operations[0]
    add.results[0].set_type(Type.parse("tensor<3x8xbf16>"))
    assert str(add.results[0].type) == "tensor<3x8xbf16>"
    assert "-> tensor<3x8xbf16>" in str(add)


def test_builtin_attributes_convert_as_mlir_does():
    assert str(BoolAttr.get(True)) == "true"
    assert [*DenseI64ArrayAttr.get([1, -2])] == [1, -2]
    assert str(IntegerAttr.get(IntegerType.get_signed(32), -1)) == "-1 : si32"
    assert (
        str(DenseElementsAttr.get(torch.arange(4).reshape(2, 2).numpy())) == "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
    )
    assert Attribute.parse("[1 : i32, true]")[1].value is True
    assert Type.parse("tensor<?x4xf32>").shape[1] == 4
    assert str(AffineMap.get_permutation([1, 0])) == "(d0, d1) -> (d1, d0)"
    assert StringAttr.get("a").value == "a"


def test_a_module_is_walked():
    seen = []

    def visit(op):
        seen.append(op.name)
        return WalkResult.SKIP if op.name == "func.func" else WalkResult.ADVANCE

    module = built(softmax_of_sum, tensor(2, 8), tensor(2, 8))
    module.operation.walk(visit, WalkOrder.PRE_ORDER)
    assert seen == ["builtin.module", "func.func"]


def test_a_binary_describes_its_programs():
    made = passes.ttnn_to_flatbuffer_bin(built(softmax_of_sum, tensor(2, 8), tensor(2, 8)))
    (described,) = json.loads(made.as_json())["programs"]
    assert described["name"] == made.get_program_name(0) == "main"
    (output,) = json.loads(made.get_program_outputs_as_json(0))
    assert output["desc"]["shape"] == [2, 8]
    assert output["desc"]["layout"]["memory_desc"]["data_type"] == "Float32"


def test_a_binary_is_that_of_the_module_when_it_was_made():
    module = built(softmax_of_sum, tensor(2, 8), tensor(2, 8))
    made = passes.ttnn_to_flatbuffer_bin(module)
    module.body.operations[0].erase()
    assert made.get_num_programs() == 1


def test_the_system_of_a_file_is_in_the_form_of_upstreams_tools(tmp_path):
    file = tmp_path / "n300.json"
    file.write_text(ttnn_jit.specs.target.SYSTEMS["n300"].to_json())
    described = json.loads(binary.load_system_desc_from_path(str(file)).as_json())["system_desc"]
    assert described["chip_descs"][0]["arch"] == "Wormhole_b0"
    assert described["chip_desc_indices"] == [0, 0]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ttir.AddOp(tensor(2), None, None), TypeError, "ttir.add: missing operand 'lhs'"),
        (lambda: ttir.AddOp(tensor(2), unknown=1), TypeError, "ttir.add has no argument 'unknown'"),
        (lambda: Module.parse("func.func @f("), MLIRError, "Unable to parse module assembly"),
        (lambda: Module.parse('"ttir.nothing"() : () -> ()'), MLIRError, "ttir.nothing"),
        (lambda: Attribute.parse("#ttcore.reduce_type<most>"), ValueError, "Unable to parse attribute"),
        (lambda: F32Type(BF16Type.get()), ValueError, "Cannot cast from bf16 to F32Type"),
        (lambda: InsertionPoint.current, ValueError, "No current InsertionPoint"),
        (lambda: ttir.NoSuchOp, AttributeError, "NoSuchOp"),
        (lambda: PassManager.parse("builtin.module(-)"), ValueError, "is no pipeline"),
        (
            lambda: PassManager.parse("builtin.module(ttnn-optimizer)").run(Module.parse("module {}").operation),
            MLIRError,
            "`ttnn-optimizer` is not run here",
        ),
    ],
)
def test_what_is_wrong_is_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("returned", [1.0, "value", object(), [torch.zeros(2, 3)]])
def test_a_function_returns_values_of_the_module_alone(returned):
    with Context(), Location.unknown():
        module = Module.create()
        with (
            InsertionPoint(module.body),
            pytest.raises(TypeError, match=r"returns values of the module, and no (float|str|object|Tensor)"),
        ):
            func.func(tensor(2, 3), name="main")(lambda _: returned)


def test_an_invalid_module_is_refused_in_the_words_of_mlir():
    with Context(), Location.unknown():
        module = Module.create()
        with InsertionPoint(module.body):
            func.func(tensor(2, 3), tensor(4, 5), name="main")(lambda x, y: ttir.MatmulOp(tensor(2, 5), x, y))
    with pytest.raises(MLIRError, match="must have matching inner dimensions"):
        module.operation.verify()


def test_a_child_process_finds_the_names_too():
    child = "from ttmlir.dialects import ttir; from _ttmlir_runtime import runtime; print(ttir.AddOp.OPERATION_NAME)"
    script = (
        "import subprocess, sys, ttnn_jit\n"
        "ttnn_jit.register_as_ttnn()\n"
        f"print(subprocess.run([sys.executable, '-c', {child!r}], capture_output=True, text=True, check=True).stdout)\n"
    )
    assert "ttir.add" in run_python("-c", script, check=True).stdout
