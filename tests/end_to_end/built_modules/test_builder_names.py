"""Scripts find in `builder`, `golden` and `profiler` what they import from tt-mlir's, and run as they stand."""

import csv
from collections import OrderedDict

import pytest
import torch

import ttnn_jit

ttnn_jit.register_as_ttnn()

import golden  # noqa: E402
import golden.mapping  # noqa: E402
from builder.base import builder_apis, builder_enums, builder_runtime  # noqa: E402 - found after `register_as_ttnn`
from builder.base.builder_enums import MeshShardDirection, MeshShardType  # noqa: E402
from builder.stablehlo.shardy_parallelization_utils import (  # noqa: E402
    find_mesh_permutations,
    generate_sharding_permutations,
)
from golden.metrics import get_atol_rtol_pcc, mask_torch_inf_nan  # noqa: E402
from profiler import trace  # noqa: E402
from ttmlir.ir import Attribute, Context, Module, Type  # noqa: E402

PRODUCT = """func.func @main(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}"""


def scaled(builder):
    """A module whose program reads a constant of many numbers."""

    @builder.func([(32, 32)], [torch.float32])
    def scaled(x, builder):
        return builder.multiply(builder.sigmoid(x), builder.constant(torch.linspace(-1, 1, 1024).reshape(32, 32)))


@pytest.mark.parametrize("module", [builder_apis, builder_runtime, builder_enums])
def test_a_star_import_has_every_name_that_it_lists(module):
    found = {}
    exec(f"from {module.__name__} import *", found)
    assert not [name for name in module.__all__ if name not in found]


def test_a_script_with_star_imports_alone_builds_and_runs_a_module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = """
from builder.ttir.ttir_builder import TTIRBuilder
from builder.base.builder_apis import *
from builder.base.builder_enums import *

def module(builder: TTIRBuilder):
    @builder.func([(2, 3)], [torch.float32])
    def negated(x: Operand, builder: TTIRBuilder, unit_attrs: Optional[List[str]] = None):
        return builder.neg(x)

made, _ = build_module(module, "ttir", mesh_dict=OrderedDict([("x", 1), ("y", 1)]))
first = next(each for each in made.body.operations if isinstance(each, func.FuncOp))
compile_and_execute_ttir(module)
"""
    found = {}
    exec(compile(script, "script.py", "exec"), found)
    assert str(RankedType := found["first"].type.inputs[0]) == "tensor<2x3xf32>", RankedType


def test_an_unknown_name_is_still_absent():
    with pytest.raises(AttributeError, match="no name 'execute_rust'"):
        builder_runtime.execute_rust  # noqa: B018 - what is tested


# --- Programs in Python -----------------------------------------------------------------------------------------------


def test_a_program_in_python_runs_from_its_text_and_from_the_file_of_december(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, program, goldens, _ = builder_apis.compile_ttir_to_flatbuffer(scaled, target="emitpy")
    for given in (program, "./ttir-builder-artifacts/emitpy/test_ttnn.mlir.py"):
        reports, tensors = builder_apis.execute_py(given, goldens, pcc=0.98)
        assert reports["program_0"]["output_0"][0]["result"] == "pass"
        assert tensors["program_0"]["device_output_0"][0].shape == (32, 32)


def test_a_program_in_python_that_gives_something_else_is_not_its_golden(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    builder_apis.compile_ttir_to_flatbuffer(scaled, target="emitpy", artifact_dir="here")
    assert not any(tmp_path.iterdir())
    _, written, goldens, _ = builder_apis.compile_ttir_to_flatbuffer(
        scaled, target="emitpy", artifact_dir="here", save_artifacts=True
    )
    (tmp_path / "here/emitpy_compiled.py").write_text(str(written).replace("ttnn.sigmoid", "ttnn.tanh"))
    with pytest.raises(builder_apis.TTBuilderGoldenException, match="output_0"):
        builder_apis.execute_py("here/emitpy_compiled.py", goldens)
    with pytest.raises(builder_apis.TTBuilderRuntimeException, match="no Python"):
        builder_apis.execute_py("def (:\n")


def test_a_program_in_cpp_is_refused_by_name():
    with pytest.raises(
        builder_apis.TTBuilderRuntimeException, match=r"execute_cpp: out\.cpp is not run: .* execute_py"
    ):
        builder_apis.execute_cpp("out.cpp", {}, pcc=0.98, device=None)


# --- Devices ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("devices", "meshes"), [(1, [(1, 1)]), (2, [(1, 2), (2, 1)]), (4, [(1, 4), (4, 1), (2, 2)]), (6, 4), (9, 3)]
)
def test_meshes_of_two_axes_are_the_factorizations(devices, meshes):
    found = [tuple(each.values()) for each in find_mesh_permutations(devices)]
    assert (found == meshes) if isinstance(meshes, list) else (len(found) == meshes)
    assert all(x * y == devices for x, y in found)


@pytest.mark.parametrize(("rank", "count"), [(1, 2), (2, 6), (3, 12)])
def test_shardings_of_an_argument_are_all_placements_of_the_axes(rank, count):
    text = f"func.func @f(%a: tensor<{'4x' * rank}f32>) {{ return }}"
    kind = next(iter(Module.parse(text).body.operations)).type.inputs[0]
    found = [str(each) for each in generate_sharding_permutations(kind, "mesh", ["x", "y"])]
    assert len({*found}) == len(found) == count


def test_a_module_is_distributed_in_every_way_and_stays_as_it_is():
    found = builder_apis.generate_all_module_permutations(PRODUCT, num_devices=2)
    texts = [str(each) for each in found]
    assert len({*texts}) == len(texts) == 2 * 6 * 6
    assert all(text.count("sdy.sharding =") == 2 and "sdy.mesh @mesh" in text for text in texts)
    builder_apis.get_optimal_module_least_num_collectives(found[:3])
    assert [str(each) for each in found] == texts


def test_names_of_december_make_the_same_operations():
    def module(builder):
        @builder.func([(4, 8)], [torch.float32])
        def reductions(x, builder):
            return [getattr(builder, f"reduce_{name}")(x, [1]) for name in ("sum", "max", "min")]

        @builder.func([(4, 8), (4, 8)], [torch.int32] * 2)
        def bits(x, y, builder):
            cut = builder.create_sharding_attr_from_tuples("mesh", [("x", True), ("", False)])
            return builder.and_(x, y, sharding_attr=cut)

    made, builder = builder_apis.build_module(module, "stablehlo")
    assert '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {?}]>]>}' in str(made)
    programs, _ = builder.golden_map
    x = programs[0]["input_0"].shard_at(0)
    for number, right in enumerate((x.double().sum(1).float(), x.amax(1), x.amin(1))):
        torch.testing.assert_close(programs[0][f"output_{number}"].shard_at(0), right)
    assert torch.equal(
        programs[1]["output_0"].shard_at(0), programs[1]["input_0"].shard_at(0) & programs[1]["input_1"].shard_at(0)
    )


def test_an_argument_that_devices_have_in_parts_has_the_type_of_the_whole():
    def module(builder):
        @builder.func([(1, 1, 4, 8)], [torch.float32])
        def model(x, builder):
            builder.preshard_arg(x, shard_dims=(-1, 3))
            cut = {"shard_shape": (1, 1, 1, 2), "shard_dims": (-1, 3)}
            down, up = (
                {"shard_direction": direction.value, "shard_type": kind.value, **cut}
                for direction, kind in (
                    (MeshShardDirection.FullToShard, MeshShardType.Identity),
                    (MeshShardDirection.ShardToFull, MeshShardType.Devices),
                )
            )
            return builder.mesh_shard(builder.exp(builder.mesh_shard(x, **down)), **up)

    mesh = OrderedDict([("x", 1), ("y", 2)])
    made, _ = builder_apis.build_module(module, "ttir", mesh_dict=mesh)
    said = "runtime_tensor_sharding shard_status = <presharded>, local_shape = tensor<1x1x4x4xf32>"
    assert f"tensor<1x1x4x8xf32> {{ttcore.runtime_tensor_sharding = #ttcore<{said}>}}" in str(made)
    builder_apis.compile_and_execute_ttir(module, mesh_dict=mesh)


# --- Inputs, metrics, times -------------------------------------------------------------------------------------------


def test_inputs_of_a_loaded_module_are_tensors_or_parts_by_device():
    text = "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }"
    for given in (torch.ones(2), {0: torch.ones(2)}):
        _, builder = builder_apis.load_mlir_file(text, golden_inputs={"f": [given]})
        assert torch.equal(builder.golden_map[0][0]["input_0"].shard_at(0), torch.ones(2))


@pytest.mark.parametrize(
    ("golden", "got", "pcc"),
    [([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 1.0), ([1.0], [1.0], 1.0), ([1.0], [2.0], 0.0), ([0.0, 0.0], [0.0, 1.0], 0.0)],
)
def test_metrics_are_those_of_upstream(golden, got, pcc):
    golden, got = torch.tensor(golden), torch.tensor(got)
    atol, _, found = get_atol_rtol_pcc(golden, got, 1e-8, 1e-5)
    assert found == pytest.approx(pcc)
    assert atol == float((golden - got).abs().max())
    assert torch.equal(mask_torch_inf_nan(torch.tensor([torch.nan, -torch.inf, 1.0])), torch.tensor([0.0, 0.0, 1.0]))


def test_attributes_and_types_become_values_of_python():
    values = {
        "3 : i32": 3,
        "1.5 : f32": 1.5,
        "true": True,
        '"name"': "name",
        "array<i64: 1, 2>": [1, 2],
        "[1 : i32, 2 : i32]": [1, 2],
        "dense<[3, 4]> : tensor<2xi64>": [3, 4],
        "dense<0> : tensor<2xi64>": [0, 0],
    }
    with Context():
        found = {text: golden.unpack_mlir_attr(Attribute.parse(text)) for text in values}
        assert {text: getattr(each, "tolist", lambda each=each: each)() for text, each in found.items()} == values
        assert golden.mapping.mlir_type_to_torch_dtype(Type.parse("bf16")) is torch.bfloat16
    assert golden.unpack_mlir_attr((1, 2)) == [1, 2]


def test_a_traced_block_writes_the_time_of_each_operation(tmp_path):
    with trace(str(tmp_path / "times"), 8086):
        builder_apis.compile_and_execute_ttir(scaled, output_root=str(tmp_path))
    with (tmp_path / "times/ops_perf_results.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert [row["OP CODE"] for row in rows if row["OP CODE"] != "ttnn.constant"][-2:] == [
        "ttnn.sigmoid",
        "ttnn.multiply",
    ]
    assert all(int(row["HOST DURATION [ns]"]) > 0 for row in rows)


# --- Sampling ---------------------------------------------------------------------------------------------------------


def sampled(k, *, seed=3, rank=2, dtype=torch.uint32):
    """Values, their tokens, and the token that was drawn for each of 32 users."""
    shape = (1,) * (rank - 2) + (32, 64)

    def module(builder):
        kinds = [torch.bfloat16, torch.int32, dtype, torch.bfloat16, torch.bfloat16]

        @builder.func([shape, shape, (32,), (32,), (32,)], kinds)
        def drawn(values, indices, k_of, p, temp, builder):
            tokens = torch.stack([torch.randperm(1000)[:64] for _ in range(32)]).to(torch.int32).reshape(shape)
            numbers = {k_of: torch.full((32,), k, dtype=dtype), p: torch.ones(32), temp: torch.full((32,), 1.667)}
            kept = {key: each if each.dtype is dtype else each.bfloat16() for key, each in numbers.items()}
            builder.set_goldens({indices: tokens, **kept})
            return builder.sampling(values, indices, k_of, p, temp, seed=seed)

    _, program, goldens, _ = builder_apis.compile_ttir_to_flatbuffer(module)
    _, tensors = builder_apis.execute_fb(program, goldens)
    values, tokens = (goldens[0][f"input_{index}"].shard_at(0).reshape(32, 64) for index in (0, 1))
    return values, tokens, tensors["program_0"]["device_output_0"][0]


def test_the_largest_of_one_candidate_is_sampled():
    values, tokens, drawn = sampled(1)
    assert torch.equal(drawn, tokens.gather(1, values.float().argmax(1, keepdim=True)).squeeze(1))


@pytest.mark.parametrize("dtype", [torch.uint32, torch.int32])
@pytest.mark.parametrize("rank", [2, 4])
def test_sampled_tokens_are_of_the_candidates_and_a_seed_chooses_them(rank, dtype):
    values, tokens, drawn = sampled(3, rank=rank, dtype=dtype)
    assert drawn.shape == ((32,) if rank == 2 else (1, 1, 1, 32))
    candidates = tokens.gather(1, values.float().topk(3).indices)
    assert bool((candidates == drawn.reshape(32, 1)).any(1).all())
    assert torch.equal(drawn, sampled(3, rank=rank, dtype=dtype)[2])
    assert not torch.equal(drawn, sampled(3, seed=4, rank=rank, dtype=dtype)[2])


def test_dialects_have_a_function_for_every_operation_that_gives_its_results():
    from ttmlir.dialects import d2m, func, ttir
    from ttmlir.ir import F32Type, InsertionPoint, Location, RankedTensorType

    with Context(), Location.unknown():
        tensor, module = RankedTensorType.get([2, 8], F32Type.get()), Module.create()
        with InsertionPoint(module.body):

            @func.func(tensor, tensor)
            def main(x, y):
                assert str(d2m.block_index(0).type) == "index"
                return ttir.relu(tensor, ttir.add(tensor, x, y))

    assert '"ttir.relu"(' in str(module)
    with pytest.raises(AttributeError, match=r"has no attribute 'rellu'; did you mean `relu`\?"):
        ttir.rellu  # noqa: B018


def test_affine_expressions_are_subtracted():
    from ttmlir.ir import AffineConstantExpr, AffineDimExpr, AffineMap

    row, two = AffineDimExpr.get(0), AffineConstantExpr.get(2)
    assert str(AffineMap.get(1, 0, [row - 1, row - two])) == "(d0) -> (d0 - 1, d0 - 2)"
    assert AffineMap.get(1, 0, [5 - row]) == AffineMap.get(1, 0, [row * -1 + 5])


def test_a_golden_of_a_tensor_in_a_layout_of_metal_has_its_own_extents():
    def module(builder):
        @builder.func([(64, 64)], [torch.float32])
        def kept(x, builder):
            tiled = builder.tilize(x, output_type=builder.get_metal_tensor_layout((64, 64), tiled=True))
            golden = torch.zeros(64, 64)
            builder.set_goldens({x: golden}, {tiled: golden})
            return builder.untilize(tiled, output_type=x.type)

    builder_apis.build_module(module, "ttir")
