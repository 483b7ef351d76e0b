"""Goldens of exchanges share no grouping and no cutting with the ops that they check."""

from __future__ import annotations

from collections import Counter

import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.ops.conversions import converted_exchanges
from ttnn_jit.ops.conversions.shardings import Tiling
from ttnn_jit.ops.texts import distributed_norm_texts, exchange_texts
from ttnn_jit.ops.texts.exchange_goldens import tiles
from ttnn_jit.sessions import text_goldens
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS

MESH = (2, 3)
ROWS = "replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>"
COLUMNS = "replica_groups = dense<[[3, 0], [1, 4], [5, 2]]> : tensor<3x2xi64>"
SUM = """({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
})"""
MAXIMUM = SUM.replace(".add", ".maximum")
KIND = "reduce_type = #ttcore.reduce_type"
PARTS = "split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 3 : i64"
EXCHANGES = {
    "ttir.all_reduce": f"<{{cluster_axis = 0 : ui32, {KIND}<mean>}}> -> 6x6",
    "ttir.all_gather": "<{cluster_axis = 1 : ui32, all_gather_dim = -1 : si32}> -> 6x18",
    "ttir.reduce_scatter": f"<{{cluster_axis = 1 : ui32, scatter_dim = 0 : si32, {KIND}<sum>}}> -> 2x6",
    "ttir.mesh_partition": "<{cluster_axis = 0 : ui32, dim = 1 : si32}> -> 6x3",
    "ttir.collective_broadcast": f"<{{{COLUMNS}}}> -> 6x6",
    "ttir.all_to_all": f"<{{{COLUMNS}, split_dim = 0 : si32, concat_dim = 1 : si32, split_count = 2 : si32}}> -> 3x12",
    "ttir.distributed_rms_norm": "<{cluster_axis = 1 : ui32, epsilon = 0.001 : f32}> -> 6x6",
    "stablehlo.all_reduce": f"<{{{COLUMNS}}}> {MAXIMUM} -> 6x6",
    "stablehlo.all_gather": f"<{{{ROWS}, all_gather_dim = 0 : i64}}> -> 18x6",
    "stablehlo.reduce_scatter": f"<{{{COLUMNS}, scatter_dimension = 1 : i64}}> {SUM} -> 6x3",
    "stablehlo.all_to_all": f"<{{{ROWS}, {PARTS}}}> -> 18x2",
}
SHARDS = "shard_shape = array<i64: 2, 3>, shard_type = #ttcore.shard_type<devices>"


def text_of(name: str) -> str:
    attributes, _, shape = EXCHANGES[name].rpartition(" -> ")
    if "distributed" in name:
        attributes = attributes.replace("<{", "<{operandSegmentSizes = array<i32: 1, 0, 0>, ")
    dims = "shard_dims = array<i64: 0, 1>"
    whole = "x".join(str(each * extent) for each, extent in zip(map(int, shape.split("x")), MESH, strict=True))
    cut = f'"ttir.mesh_shard"(%x) <{{{dims}, {SHARDS}, shard_direction = #ttcore.shard_direction<full_to_shard>}}>'
    joined = f'"ttir.mesh_shard"(%1) <{{{dims}, {SHARDS}, shard_direction = #ttcore.shard_direction<shard_to_full>}}>'
    return f"""
    func.func @main(%x: tensor<12x18xf32>) -> tensor<{whole}xf32> {{
      %0 = {cut} : (tensor<12x18xf32>) -> tensor<6x6xf32>
      %1 = "{name}"(%0) {attributes} : (tensor<6x6xf32>) -> tensor<{shape}xf32>
      %2 = {joined} : (tensor<{shape}xf32>) -> tensor<{whole}xf32>
      return %2 : tensor<{whole}xf32>
    }}"""


def wrong_ops(name: str) -> list[str]:
    (module,) = parse_texts(text_of(name), "text.mlir")
    run = GoldenRun(TextModule(module, PRESETS["cpu"], MESH), "main", [torch.randn(12, 18)])
    return [each.op.name for each in run.compared() if not each.matches]


@pytest.mark.parametrize("name", EXCHANGES)
def test_an_exchange_agrees_with_its_golden(name):
    assert wrong_ops(name) == []


@pytest.mark.parametrize("name", EXCHANGES)
def test_a_golden_tells_that_other_devices_exchanged(name, monkeypatch):
    """Devices 0 and 5 change places in the groups of the op."""
    right = exchange_texts.by_group

    def wrong(found, inputs, groups):
        return right(found, inputs, [[{0: 5, 5: 0}.get(each, each) for each in group] for group in groups])

    for room in (exchange_texts, distributed_norm_texts, converted_exchanges):
        monkeypatch.setattr(room, "by_group", wrong)
    assert wrong_ops(name) == [name]


def test_a_golden_tells_that_shards_lie_elsewhere(monkeypatch):
    places = exchange_texts._coordinates
    monkeypatch.setattr(exchange_texts, "_coordinates", lambda mesh: places(mesh)[::-1])
    assert wrong_ops("ttir.all_reduce") == ["ttir.mesh_shard"]


ANNOTATED = """
module attributes {mhlo.num_partitions = 6 : i32} {
  func.func @main(%x: tensor<12x18xf32>) -> tensor<12x18xf32> {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,3]<=[3,2]T(1,0)}"}
      : (tensor<12x18xf32>) -> tensor<12x18xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"}
      : (tensor<12x18xf32>) -> tensor<6x6xf32>
    %2 = stablehlo.custom_call @Sharding(%1) {mhlo.sharding = "{manual}"} : (tensor<6x6xf32>) -> tensor<6x6xf32>
    %3 = stablehlo.custom_call @SPMDShardToFullShape(%2) {mhlo.sharding = "{devices=[2,3]<=[3,2]T(1,0)}"}
      : (tensor<6x6xf32>) -> tensor<12x18xf32>
    return %3 : tensor<12x18xf32>
  }
}"""


@pytest.mark.parametrize(
    ("method", "call"), [("part_of", "SPMDFullToShardShape"), ("whole", "SPMDShardToFullShape"), (None, None)]
)
def test_goldens_of_xlas_shards_tell_that_these_lie_elsewhere(method, call, monkeypatch):
    if method is not None:
        right = getattr(Tiling, method)
        moved = lambda tiling, *given: right(tiling._replace(places=tiling.places[::-1]), *given)  # noqa: E731
        monkeypatch.setattr(Tiling, method, moved)
    (module,) = parse_texts(ANNOTATED, "text.mlir")
    run = GoldenRun(TextModule(module, PRESETS["cpu"], MESH), "main", [torch.randn(12, 18)])
    wrong = [each.op.properties["call_target_name"].data for each in run.compared() if not each.matches]
    assert wrong == ([] if call is None else [call])


def test_a_number_without_dimensions_is_its_one_tile():
    assert tiles(torch, torch.tensor(3.0), ()).item() == 3.0


SEVERAL = f"""
module attributes {{mhlo.num_partitions = 6 : i32}} {{
  func.func @main(%x: tensor<4xf32>, %n: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {{
    %0:2 = "stablehlo.all_reduce"(%x, %n) <{{{COLUMNS}}}> {SUM}
      : (tensor<4xf32>, tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>)
    return %0#0, %0#1 : tensor<4xf32>, tensor<2x3xf32>
  }}
}}"""


def test_several_tensors_are_exchanged_one_after_the_other():
    (parsed,) = parse_texts(SEVERAL, "text.mlir")
    module, inputs = TextModule(parsed, PRESETS["cpu"], MESH), [torch.randn(4), torch.randn(2, 3)]
    results = module.program("main")(*inputs)
    assert all(torch.equal(got, 2 * given) for got, given in zip(results, inputs, strict=True))
    assert all(each.matches for each in GoldenRun(module, "main", inputs).compared())


def test_what_devices_share_is_widened_and_judged_once(monkeypatch):
    counts = Counter()
    for name in ("_widened", "_is_exact"):
        own = getattr(text_goldens, name)
        counted = lambda *given, name=name, own=own: counts.update([name]) or own(*given)  # noqa: E731
        monkeypatch.setattr(text_goldens, name, counted)
    (parsed,) = parse_texts(SEVERAL, "text.mlir")
    run = GoldenRun(TextModule(parsed, PRESETS["cpu"], MESH), "main", [torch.randn(4), torch.randn(2, 3)])
    assert all(each.matches for each in run.compared())
    assert counts == {"_widened": 2 * 6, "_is_exact": 2 * 3}  # a group has a result, of two devices
