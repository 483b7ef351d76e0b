"""`builder` makes modules by a method per operation, computes their goldens, runs them and judges the results."""

import inspect
from collections import OrderedDict

import pytest
import torch

import ttnn_jit
from tests.processes import run_python

ttnn_jit.register_as_ttnn()

from builder.base.builder_apis import (  # noqa: E402 - found where `register_as_ttnn` was called
    build_module,
    compile_and_execute_shlo,
    compile_and_execute_ttir,
    compile_and_execute_ttnn,
    compile_ttir_to_flatbuffer,
    load_mlir_file,
    split_mlir_file,
)
from builder.base.builder_enums import MeshShardDirection, MeshShardType, ReduceType  # noqa: E402
from builder.base.builder_runtime import (  # noqa: E402
    TTBuilderCompileException,
    TTBuilderGoldenException,
    TTBuilderRuntimeException,
    check_outputs,
    execute_fb,
)
from builder.base.builder_utils import TypeInfo  # noqa: E402
from builder.stablehlo.stablehlo_builder import StableHLOBuilder  # noqa: E402
from builder.ttir.ttir_builder import TTIRBuilder  # noqa: E402
from builder.ttnn.ttnn_builder import TTNNBuilder  # noqa: E402
from golden import get_golden_function  # noqa: E402
from golden.mapping import CHISEL_GOLDEN_MAPPINGS, GoldenMapTensor, apply_sharding  # noqa: E402
from ttmlir import passes  # noqa: E402
from ttmlir.dialects import stablehlo, ttir  # noqa: E402
from ttmlir.ir import Module  # noqa: E402

ROWS = OrderedDict([("x", 1), ("y", 4)])


def one_function(body, *shapes, dtypes=None, **options):
    """A function of a builder with one function of the module."""

    def module(builder):
        builder.func(shapes, dtypes or [torch.float32] * len(shapes), **options)(body)

    return module


def goldens_of(fn, kind="ttir", **options):
    module, builder = build_module(fn, kind, **options)
    return module, builder.golden_map[0][0]


def test_results_of_narrowed_tensors_are_judged_as_wholes():
    filled = lambda cache, rows, b: b.typecast(b.fill_cache(cache, rows), torch.float32)  # noqa: E731 - used once
    narrowed = one_function(filled, (1, 2, 3, 35), (1, 2, 3, 35), dtypes=[torch.bfloat16] * 2)
    for dtype in ("bfp_bf8", "none"):
        compile_and_execute_ttir(narrowed, pipeline_options=[f"experimental-kv-cache-dtype={dtype}"])
    with pytest.raises(TTBuilderGoldenException, match="root mean square"):
        compile_and_execute_ttir(narrowed, pipeline_options=["experimental-kv-cache-dtype=bfp_bf4"], pcc=0.9999)


# --- Methods ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "least"), [(TTIRBuilder, 170), (TTNNBuilder, 185), (StableHLOBuilder, 95)])
def test_a_builder_has_a_method_for_every_operation_with_a_result(kind, least):
    derived = [each for name, each in vars(kind).items() if hasattr(each, "__signature__") and name[0] != "_"]
    assert len(derived) > least
    assert all("loc" in each.__signature__.parameters for each in derived)


def test_a_signature_has_the_names_and_the_defaults_of_the_declaration():
    assert [*inspect.signature(TTIRBuilder.permute).parameters][:3] == ["self", "input", "permutation"]
    assert inspect.signature(TTIRBuilder.conv2d).parameters["groups"].default is inspect.Parameter.empty
    assert inspect.signature(TTIRBuilder.max).parameters["keep_dim"].default is True


def test_operands_are_known_by_position_by_name_and_by_number():
    def body(x, y, builder):
        first, second = builder.add(x, y), builder.add(lhs=x, rhs=y)
        return builder.add(in0=first, in1=second)

    compile_and_execute_ttir(one_function(body, (2, 3), (2, 3)))


def test_a_missing_argument_is_an_error_of_the_build_that_names_the_method():
    with pytest.raises(TTBuilderCompileException, match=r"conv2d\(\): missing a required argument"):
        compile_and_execute_ttir(one_function(lambda x, builder: builder.conv2d(x), (1, 4, 4, 2)))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x, b: b.add(x, b.sum(x, [0])) and b.matmull(x), "has no attribute 'matmull'"),
        (
            lambda x, b: b.matmul(x, b.reshape(x, [4, 2])) and b.matmul(x, x),
            "mat1 and mat2 shapes cannot be multiplied",
        ),
        (lambda x, b: b.softmax(x, dimensoin=1), "got an unexpected keyword argument 'dimensoin'"),
        (
            lambda x, b: b.set_goldens({x: torch.zeros(2, 2)}),
            r"the golden has the shape \[2, 2\], and its value \[2, 4\]",
        ),
    ],
)
def test_an_error_while_a_module_is_built_names_the_line_of_the_user(body, message):
    line = body.__code__.co_firstlineno
    with pytest.raises(TTBuilderCompileException, match=rf"test_builders\.py:{line}:\d+: .*{message}"):
        compile_and_execute_ttir(one_function(body, (2, 4)))


@pytest.mark.parametrize(
    ("call", "shape", "element"),
    [
        (lambda x, b: b.matmul(x, x, transpose_b=True), (2, 4, 4), "f32"),
        (lambda x, b: b.sum(x, [1]), (2, 1, 6), "f32"),
        (lambda x, b: b.argmax(x, [2]), (2, 4), "i32"),
        (lambda x, b: b.reshape(x, [-1, 6]), (8, 6), "f32"),
        (lambda x, b: b.typecast(x, torch.bfloat16), (2, 4, 6), "bf16"),
        (lambda x, b: b.topk_indices(b.topk(x, 3)), (2, 4, 3), "i64"),
        (lambda x, b: b.permute(x, [2, 0, 1]), (6, 2, 4), "f32"),
        (lambda x, b: b.concat([x, x], 1), (2, 8, 6), "f32"),
        (lambda _, b: b.full([3, 2], torch.int32, 7), (3, 2), "i32"),
        (lambda x, b: b.eq(x, x), (2, 4, 6), "f32"),
        (lambda x, b: b.get_dimension_size(x, 1), (1,), "i32"),
    ],
)
def test_a_result_has_the_shape_of_its_golden(call, shape, element):
    fn = one_function(lambda x, builder: call(x, builder), (2, 4, 6))
    module, goldens = goldens_of(fn)
    assert f"-> tensor<{'x'.join(map(str, shape))}x{element}>" in str(module)
    assert tuple(goldens["output_0"].shape) == shape
    compile_and_execute_ttir(fn)


def test_results_may_be_several():
    def body(x, scale, offset, mean, variance, builder):
        return builder.batch_norm_training(x, scale, offset, mean, variance, epsilon=1e-5, dimension=1, momentum=0.1)

    fn = one_function(body, (2, 3, 4, 4), *[(3,)] * 4)
    compile_and_execute_ttir(fn)  # TTNN's operation has one result, and writes the other two in place
    module, goldens = goldens_of(fn)
    assert "-> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)" in str(module)
    x = goldens["input_0"].shard_at(0)
    moved = 0.9 * goldens["input_3"].shard_at(0) + 0.1 * x.mean((0, 2, 3))
    assert torch.allclose(goldens["output_1"].shard_at(0), moved, atol=1e-5)


def test_a_location_is_the_line_of_the_caller_or_what_the_call_says():
    def body(x, builder):
        return builder.exp(builder.neg(x, loc="there"), unit_attrs=["ttir.should_hoist"])

    module, _ = build_module(one_function(body, (2, 2)), "ttir")
    text = module.operation.get_asm(enable_debug_info=True)
    assert 'loc("there")' in text
    assert f'loc("{__file__}:{body.__code__.co_firstlineno + 1}")' in text
    assert '"ttir.exp"(%0) {ttir.should_hoist}' in text


def test_a_called_function_is_private_beside_its_caller():
    def inner(x, builder):
        return builder.sigmoid(x)

    fn = one_function(lambda x, builder: builder.call(inner, [builder.exp(x)]), (2, 2))
    module, builder = build_module(fn, "ttir")
    assert "func.func private @inner" in str(module)
    assert len(builder.golden_map[0]) == 1
    compile_and_execute_ttir(fn)


def test_quantized_arguments_are_compared_by_their_integers():
    kind = TypeInfo(torch.qint32, scale=0.5, zero_point=3)
    body = one_function(lambda x, b: b.dequantize(x, 0.5, 3, torch.float32), (4, 4), dtypes=[kind])
    module, _ = build_module(body, "ttir")
    assert "!quant.uniform<i32:f32" in str(module)


# --- Goldens and verdicts ---------------------------------------------------------------------------------------------


def doubled(x, builder):
    return builder.add(x, x)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda y: y * 1000.0,
        lambda y: y + 5.0,
        lambda y: torch.where(y == y[0, 0], torch.nan, y),
        torch.zeros_like,
    ],
    ids=["scaled", "shifted", "nan", "zeros"],
)
def test_a_wrong_result_is_refused_though_it_correlates(wrong):
    _, program, goldens, _ = compile_ttir_to_flatbuffer(one_function(doubled, (32, 32)))
    right = goldens[0]["output_0"]
    execute_fb(program, goldens)
    goldens[0]["output_0"] = right.apply_shardwise(wrong)
    with pytest.raises(TTBuilderGoldenException, match="output_0 is not its golden"):
        execute_fb(program, goldens)


def test_a_result_of_one_operation_is_judged_by_its_own_bound():
    _, program, goldens, _ = compile_ttir_to_flatbuffer(one_function(doubled, (32, 32)))
    report, _ = execute_fb(program, goldens)
    judged = goldens[0]["output_0"].source
    got = goldens[0]["output_0"].shard_at(0)
    assert report["program_0"]["output_0"][0]["result"] == "pass"
    assert judged.verdict(0, got).matches
    assert not judged.verdict(0, got * (1 + 2**-20)).matches


def test_goldens_that_users_set_are_compared():
    def body(x, builder):
        found = builder.exp(x)
        builder.set_goldens({x: torch.zeros}, {found: torch.full((4, 4), 2.0)})
        return found

    with pytest.raises(TTBuilderGoldenException, match="off by 1"):
        compile_and_execute_ttir(one_function(body, (4, 4)))


def test_goldens_are_read_before_the_module_is_lowered():
    module, builder = build_module(one_function(lambda x, builder: builder.exp(x), (4, 8)), "ttir")
    assert len(builder.golden_map[1]) == 1
    passes.ttir_to_ttnn_runtime_pipeline(module, "")
    with pytest.raises(RuntimeError, match="this one is lowered"):
        builder.golden_map  # noqa: B018 - what is tested


def test_a_bypassed_operation_gives_its_golden():
    def body(x, builder):
        found = builder.exp(x)
        builder.set_operand_goldens({found: torch.ones(4, 4)})
        builder.bypass(found)
        return builder.neg(found)

    _, program, goldens, inner = compile_ttir_to_flatbuffer(one_function(body, (4, 4)), pipeline_options=[])
    builder = build_module(one_function(body, (4, 4)), "ttir")[1]
    _, tensors = execute_fb(program, goldens, inner, bypass_ops=builder._bypass_ops)
    assert torch.equal(tensors["program_0"]["device_output_0"][0], -torch.ones(4, 4))


def test_every_operation_is_compared_by_its_location():
    fn = one_function(lambda x, builder: builder.exp(builder.neg(x, loc="first"), loc="second"), (4, 4))
    _, program, goldens, inner = compile_ttir_to_flatbuffer(fn)
    report, _ = execute_fb(program, goldens, inner, enable_intermediate_verification=True)
    assert report["program_0"]['loc("first")'][0]["result"] == "pass"


def test_an_operand_that_an_operation_writes_keeps_its_golden_as_an_input():
    def body(cache, x, index, builder):
        builder.set_goldens({index: torch.tensor([2], dtype=torch.int32)})
        builder.update_cache(cache, x, index)
        return cache

    fn = one_function(body, (1, 2, 8, 4), (1, 2, 1, 4), (1,), dtypes=[torch.float32, torch.float32, torch.int32])
    compile_and_execute_ttir(fn)
    _, goldens = goldens_of(fn)
    before, after = goldens["input_0"].shard_at(0), goldens["output_0"].shard_at(0)
    assert not torch.equal(before, after)
    assert torch.equal(after[:, :, 2], goldens["input_1"].shard_at(0)[:, :, 0])


def test_a_program_in_python_gives_what_the_module_does():
    def body(x, y, builder):
        table = builder.constant(torch.arange(64.0).reshape(1, 64))
        return builder.add(builder.matmul(x, y), table), builder.softmax(x, 1)

    compile_and_execute_ttir(one_function(body, (4, 8), (8, 64)), target="emitpy")


@pytest.mark.parametrize(
    ("error", "options"),
    [(TTBuilderCompileException, {"target": "emitc"}), (TTBuilderRuntimeException, {"skip_exec": True})],
)
def test_errors_are_told_apart_by_their_class(error, options):
    with pytest.raises(error):
        compile_and_execute_ttir(one_function(doubled, (4, 4)), **options)


def test_outputs_are_compared_by_the_root_mean_square_of_differences():
    x = torch.randn(64, 64)
    assert (
        check_outputs(x, x + 0.01 * torch.randn(64, 64), "x", 0.99, 1e-8, 1e-5, True, False, False)["result"] == "pass"
    )
    with pytest.raises(TTBuilderGoldenException):
        check_outputs(x, 2 * x, "x", 0.99, 1e-8, 1e-5, True, False, False)


def test_the_golden_of_a_class_takes_tensors_and_attributes():
    x, y = torch.randn(3, 4), torch.randn(4, 5)
    assert torch.allclose(get_golden_function(ttir.MatmulOp)(x, y), x @ y, atol=1e-5)
    assert torch.equal(get_golden_function(ttir.PermuteOp)(x, permutation=[1, 0]), x.T)
    both = GoldenMapTensor({0: x, 1: -x}, (1, 2))
    assert torch.equal(get_golden_function(ttir.AbsOp)(both).shard_at(1), x.abs())


def test_the_golden_of_an_operation_takes_its_inputs_by_name():
    module = Module.parse(
        'func.func @f(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {\n  %0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], '
        "keep_dim = true}> : (tensor<2x3xf32>) -> tensor<2x1xf32>\n  return %0 : tensor<2x1xf32>\n}"
    )
    op = module.body.operations[0].body.blocks[0].operations[0]
    x = torch.randn(2, 3)
    assert torch.allclose(CHISEL_GOLDEN_MAPPINGS[type(op)](op, {"input": x}), x.sum(1, keepdim=True))


def test_parts_of_a_tensor_are_computed_on_each_device():
    whole = GoldenMapTensor({0: torch.arange(8.0).reshape(2, 4)}, (1, 2))
    cut = apply_sharding(whole, (1, 2), (-1, 1))
    assert [each.tolist() for each in cut.shard_map.values()] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert torch.equal((cut + 1).shard_at(1), cut.shard_at(1) + 1)
    assert torch.equal(torch.cat([cut, cut], 0).shard_at(0), torch.cat([cut.shard_at(0)] * 2))


# --- Other dialects ---------------------------------------------------------------------------------------------------


def test_a_module_of_stablehlo_runs_through_ttir():
    def body(x, y, builder):
        summed = builder.reduce(
            [builder.mul(x, y)],
            [builder.constant(torch.tensor(0.0))],
            [1],
            lambda one, other: stablehlo.AddOp(one, other).result,
        )
        wide = builder.broadcast_in_dim(summed, [0], [8, 8])
        return builder.select(builder.compare(x, wide, "GT"), x, builder.dot_general(x, y, [], [1], [], [1]))

    compile_and_execute_shlo(one_function(body, (8, 8), (8, 8)))


@pytest.mark.parametrize("descending", [False, True])
def test_a_sort_orders_values_by_keys(descending):
    def body(keys, values, builder):
        return builder.sort(keys, 1, is_stable=True, descending=descending, value_inputs=[values])

    fn = one_function(body, (3, 16), (3, 16))
    _, goldens = goldens_of(fn, "stablehlo")
    order = goldens["input_0"].shard_at(0).argsort(dim=1, descending=descending, stable=True)
    assert torch.equal(goldens["output_1"].shard_at(0), goldens["input_1"].shard_at(0).gather(1, order))
    compile_and_execute_shlo(fn)


def test_a_module_of_ttnn_has_layouts():
    fn = one_function(lambda x, y, builder: builder.linear(x, y, transpose_b=True), (32, 64), (32, 64))
    module, _ = build_module(fn, "ttnn")
    assert "memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>" in str(module)
    compile_and_execute_ttnn(fn)


@pytest.mark.parametrize("shape", [(24, 20), (1, 2, 8, 8)])
def test_windows_of_bfloat16_are_summed_in_float32(shape):
    window = [1] * (len(shape) - 2) + [3, 3]
    padding = [0] * 2 * (len(shape) - 2) + [1] * 4

    def body(x, builder):
        return builder.pool_2d(x, window, [1] * len(shape), padding, "avg")

    compile_and_execute_shlo(one_function(body, shape, dtypes=[torch.bfloat16]))


def test_a_sparse_product_without_a_number_of_groups_states_none():
    def body(a, b, sparsity, builder):
        return builder.sparse_matmul(a, b, sparsity, nnz=0)

    module, _ = build_module(one_function(body, (2, 3, 4, 8), (1, 5, 8, 6), (2, 3, 1, 5)), "ttir")
    assert "nnz" not in str(module)


# --- Meshes -----------------------------------------------------------------------------------------------------------


def test_shards_of_a_mesh_are_reduced_and_joined():
    def body(x, builder):
        cut = {"shard_type": MeshShardType.Devices, "shard_shape": [1, 4], "shard_dims": [-1, 1]}
        part = builder.mesh_shard(x, shard_direction=MeshShardDirection.FullToShard, **cut)
        total = builder.all_reduce(builder.exp(part), cluster_axis=1, reduce_type=ReduceType.Sum)
        return builder.mesh_shard(total, shard_direction=MeshShardDirection.ShardToFull, **cut)

    fn = one_function(body, (8, 16))
    _, goldens = goldens_of(fn, mesh_dict=ROWS)
    parts = goldens["input_0"].shard_at(0).exp().chunk(4, 1)
    assert torch.allclose(goldens["output_0"].shard_at(0), torch.cat([sum(parts)] * 4, 1), rtol=1e-5)
    compile_and_execute_ttir(fn, mesh_dict=ROWS)


@pytest.mark.parametrize("has_bias", [False, True])
def test_a_distributed_norm_is_that_of_the_whole_rows(has_bias):
    cut = {0: (-1, 1), 1: (-1, 0), 2: (-1, 0), 3: (-1, 1)}

    def body(x, weight, bias, residual, builder):
        if has_bias:
            return builder.distributed_layer_norm(x, 1, weight, bias, residual)
        return builder.distributed_rms_norm(x, 1, weight, residual)

    shapes = (4, 64), (64,), (64,), (4, 64)
    fn = one_function(body, *shapes, presharded_args=cut, presharded_results={0: (-1, 1)})
    _, goldens = goldens_of(fn, mesh_dict=ROWS)
    x, weight, bias, residual = (
        torch.cat([*goldens[f"input_{index}"].shard_map.values()], -1) for index in range(len(shapes))
    )
    norm = torch.nn.functional.layer_norm if has_bias else torch.nn.functional.rms_norm
    vectors = (weight, bias) if has_bias else (weight,)
    right = norm(x + residual, (64,), *vectors, eps=1e-5)
    assert torch.allclose(torch.cat([*goldens["output_0"].shard_map.values()], -1), right, atol=1e-5)
    compile_and_execute_ttir(fn, mesh_dict=ROWS)


def test_presharded_arguments_have_a_part_per_device():
    fn = one_function(
        lambda x, builder: builder.exp(x), (8, 16), presharded_args={0: (-1, 1)}, presharded_results={0: (-1, 1)}
    )
    module, goldens = goldens_of(fn, mesh_dict=ROWS)
    assert "tensor<8x4xf32> {ttcore.local_shape" in str(module)
    assert len(goldens["output_0"].shard_map) == 4
    compile_and_execute_ttir(fn, mesh_dict=ROWS)


def test_a_manual_computation_is_written_for_one_device():
    def body(x, builder):
        axes = [builder.axis_ref_attr(name="y")]
        sharding = builder.tensor_sharding_attr(
            "mesh",
            [
                builder.dimension_sharding_attr(axes=[], is_closed=True),
                builder.dimension_sharding_attr(axes=axes, is_closed=True),
            ],
        )

        def on_a_device(part, builder):
            return builder.all_reduce(part, [[0, 1, 2, 3]])

        return builder.manual_computation(on_a_device, [x], [sharding], [sharding], ["x", "y"])

    fn = one_function(body, (4, 8))
    module, goldens = goldens_of(fn, "stablehlo", mesh_dict=ROWS)
    assert 'in_shardings=[<@mesh, [{}, {"y"}]>]' in str(module)
    parts = goldens["input_0"].shard_at(0).chunk(4, 1)
    assert torch.allclose(goldens["output_0"].shard_at(0), torch.cat([sum(parts)] * 4, 1), rtol=1e-5)


# --- Texts ------------------------------------------------------------------------------------------------------------

TEXT = """
func.func @main(%index: tensor<3xi32>, %table: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %0 = "ttir.reshape"(%index) <{shape = [1 : i32, 3 : i32]}> : (tensor<3xi32>) -> tensor<1x3xi32>
  %1 = "ttir.embedding"(%0, %table) : (tensor<1x3xi32>, tensor<5x4xf32>) -> tensor<1x3x4xf32>
  %2 = call @inner(%1) : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}
func.func private @inner(%x: tensor<1x3x4xf32>) -> tensor<3x4xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [3 : i32, 4 : i32]}> : (tensor<1x3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
"""


def test_a_loaded_module_draws_indices_below_the_limit_of_what_reads_them():
    for _ in range(3):
        _, builder = load_mlir_file(TEXT)
        goldens = builder.golden_map[0][0]
        assert int(goldens["input_0"].shard_at(0).max()) < 5
        looked_up = goldens["input_1"].shard_at(0)[goldens["input_0"].shard_at(0).long()]
        assert torch.equal(goldens["output_0"].shard_at(0), looked_up)


def test_a_module_is_split_into_one_for_each_operation():
    module, builder = load_mlir_file(TEXT)
    parts = split_mlir_file(module, builder)
    names = ["ttir.reshape", "ttir.embedding", "ttir.reshape"]
    assert [name in str(part) for name, (part, _) in zip(names, parts, strict=True)] == [True] * 3
    embedding = parts[1][1].golden_map[0][0]
    assert torch.equal(
        embedding["output_0"].shard_at(0)[0],
        embedding["input_1"].shard_at(0)[embedding["input_0"].shard_at(0)[0].long()],
    )


# --- Processes --------------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_child_processes_find_the_packages_and_a_package_of_the_user_is_found_first(tmp_path):
    (tmp_path / "golden").mkdir()  # a plain folder hides nothing
    (tmp_path / "script.py").write_text(
        "import subprocess, sys\n"
        "import ttnn_jit; ttnn_jit.register_as_ttnn()\n"
        "code = 'from builder.ttir.ttir_builder import TTIRBuilder; import golden; print(golden.get_golden_function)'\n"
        "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout)\n"
    )
    assert "get_golden_function" in run_python(str(tmp_path / "script.py"), cwd=tmp_path).stdout
