"""What tt-mlir's page on `builder` builds prints as it says, and its calls compile, run and compare it."""

from collections import OrderedDict

import pytest
import torch

import ttnn_jit

ttnn_jit.register_as_ttnn()

from _ttmlir_runtime import runtime  # noqa: E402 - found where `register_as_ttnn` was called
from builder.base import builder_apis as apis  # noqa: E402
from builder.base.builder_enums import MeshShardDirection, MeshShardType  # noqa: E402
from ttmlir.passes import stablehlo_pipeline, stablehlo_to_ttir_pipeline  # noqa: E402

CHIPS = OrderedDict([("x", 2), ("y", 4)])


def module_of(body, *shapes, name="modela"):
    """A function of a builder that makes one function, of a body, on float32."""

    def module(builder):
        def named(*arguments):
            return body(*arguments)

        named.__name__ = name
        builder.func([*shapes], [torch.float32] * len(shapes))(named)

    return module


def sigmoid(x, builder):
    return builder.sigmoid(x)


def add(x, y, builder):
    return builder.add(x, y)


def nested(x, builder):
    def nested_func(x, builder):
        return builder.sigmoid(x)

    return builder.call(nested_func, [builder.sigmoid(x)])


def both(first, second):
    """The functions of two modules in one."""

    def module(builder):
        first(builder)
        second(builder)

    return module


ONE = module_of(sigmoid, (32, 32))
TWO = both(ONE, module_of(sigmoid, (32, 32), name="modelb"))


def in_device_module(inner):
    def module(builder):
        def my_device_module(builder):
            inner(builder)

        builder.device_module(my_device_module)

    return module


def trained(x, scale, offset, mean, variance, builder):
    statistics = scale, offset, mean, variance
    return builder.batch_norm_training(x, *statistics, epsilon=1e-5, dimension=1, momentum=0.1)


def cut(shape, dims):
    return {"shard_shape": shape, "shard_dims": dims}


def gathered(x, builder):
    down, up = MeshShardDirection.FullToShard.value, MeshShardDirection.ShardToFull.value
    devices = MeshShardType.Devices.value
    part = builder.mesh_shard(x, shard_direction=down, shard_type=devices, **cut((1, 1, 8, 4), (2, 3)))
    whole = builder.all_gather(part, all_gather_dim=3, cluster_axis=1)
    return builder.mesh_shard(whole, shard_direction=up, shard_type=devices, **cut((1, 1, 8, 1), (2, -1)))


# --- Shardy -----------------------------------------------------------------------------------------------------------


def sharding(builder, *dimensions):
    """A sharding along axes; a dimension is (axes, whether it is closed, priority)."""
    return builder.tensor_sharding_attr(
        mesh_name="mesh",
        dimension_shardings=[
            builder.dimension_sharding_attr(
                axes=[builder.axis_ref_attr(name=axis) for axis in axes], is_closed=is_closed, **rest
            )
            for axes, is_closed, rest in dimensions
        ],
    )


def by_rows_and_columns(builder):
    return sharding(builder, ("", True, {}), ("", True, {}), ("x", True, {}), ("y", True, {}))


def annotated(x, y, builder):
    builder.set_graph_level_check(True)
    first = sharding(builder, ("x", True, {"priority": 10}), ("y", False, {}), ("", False, {}), ("", False, {}))
    return builder.add(x, y, sharding_attr=builder.tensor_sharding_per_value_attr([first]))


def annotated_input(x, y, builder):
    builder.set_graph_level_check(True)
    builder.set_arg_attribute(x, "sdy.sharding", sharding(builder, ("x", True, {}), ("y", True, {})))
    return builder.add(x, y)


def manual(x, y, builder):
    def on_a_device(x, y, builder):
        total = builder.add(builder.add(x, y), y)
        return builder.cosine(total), builder.sine(total)

    own = by_rows_and_columns(builder)
    return builder.manual_computation(
        on_a_device, [x, y], in_shardings=[own, own], out_shardings=[own, own], manual_axes=["x", "y"]
    )


def manually_gathered(x, builder):
    own = by_rows_and_columns(builder)
    return builder.manual_computation(
        lambda x, builder: builder.all_gather(x, 3, [[0]]),
        [x],
        in_shardings=[own],
        out_shardings=[own],
        manual_axes=["x", "y"],
    )


def gathered_by_shardy(x, y, builder):
    axes = [
        builder.axes_ref_list_attr(axis_ref_list=[builder.axis_ref_attr(name=axis) for axis in each])
        for each in ("", "", "x", "y")
    ]
    own = builder.tensor_sharding_per_value_attr([by_rows_and_columns(builder)])
    total = builder.add(x, y, sharding_attr=own)
    whole = sharding(builder, *[("", True, {})] * 4)
    return builder.sdy_all_gather(total, builder.list_of_axis_ref_lists_attr(axes), whole)


# --- Texts ------------------------------------------------------------------------------------------------------------

T = "tensor<32x32xf32>"


def of_sigmoid(name):
    return [
        f"func.func {name}(%arg0: {T}) -> {T} {{",
        f'%0 = "ttir.sigmoid"(%arg0) : ({T}) -> {T}',
        f"return %0 : {T}",
        "}",
    ]


OF_NESTED = [
    f"func.func @my_modela(%arg0: {T}) -> {T} {{",
    f'%0 = "ttir.sigmoid"(%arg0) : ({T}) -> {T}',
    f"%1 = call @nested_func(%0) : ({T}) -> {T}",
    f"return %1 : {T}",
    "}",
    *of_sigmoid("private @nested_func"),
    *of_sigmoid("@my_modelb"),
]
NESTED = both(module_of(nested, (32, 32), name="my_modela"), module_of(sigmoid, (32, 32), name="my_modelb"))
WHOLE = {
    "functions": (TWO, ["module {", *of_sigmoid("@modela"), *of_sigmoid("@modelb"), "}"]),
    "calls": (NESTED, ["module {", *OF_NESTED, "}"]),
    "a module of the device": (
        in_device_module(NESTED),
        ["module {", "ttcore.device_module {", "builtin.module {", *OF_NESTED, "}", "}", "}"],
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_module_of_several_functions_is_printed_line_by_line(name):
    function, lines = WHOLE[name]
    module, _ = apis.build_module(function, "ttir")
    assert [line.strip() for line in str(module).splitlines()] == lines


SHARDED = '<@mesh, [{}, {}, {"x"}, {"y"}]>'
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'
PARTS = {
    "a unit attribute": (
        "ttir",
        module_of(lambda x, builder: builder.sigmoid(x, unit_attrs=["ttir.should_hoist"]), (32, 32)),
        [f'%0 = "ttir.sigmoid"(%arg0) {{ttir.should_hoist}} : ({T}) -> {T}'],
    ),
    "several results": (
        "ttir",
        module_of(trained, (2, 16, 32, 32), *[(16,)] * 4),
        [
            '%result, %batch_mean, %batch_variance = "ttir.batch_norm_training"(%arg0, %arg1, %arg2, %arg3, %arg4) <{'
            "dimension = 1 : i32, epsilon = 9.99999974E-6 : f32, momentum = 1.000000e-01 : f32}>",
            "return %result, %batch_mean, %batch_variance : tensor<2x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>",
        ],
    ),
    "another element type": (
        "ttir",
        module_of(lambda x, builder: builder.sigmoid(x, output_type=torch.bfloat16), (32, 32)),
        [f'%0 = "ttir.sigmoid"(%arg0) : ({T}) -> tensor<32x32xbf16>', "return %0 : tensor<32x32xbf16>"],
    ),
    "stablehlo": (
        "stablehlo",
        module_of(add, (32, 32), (32, 32)),
        ['sdy.mesh @mesh = <["x"=1, "y"=1]>', f"%0 = stablehlo.add %arg0, %arg1 : {T}"],
    ),
    "ttnn": (
        "ttnn",
        module_of(add, (32, 32), (32, 32)),
        [
            "#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, ",
            "memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>",
            "tensor<32x32xf32, #ttnn_layout>) -> tensor<32x32xf32, #ttnn_layout>",
        ],
    ),
    "shards": (
        "ttir",
        module_of(gathered, (1, 1, 256, 512)),
        [
            "shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 1, 8, 4>",
            "(tensor<1x1x256x512xf32>) -> tensor<1x1x32x128xf32>",
            '%1 = "ttir.all_gather"(%0) <{all_gather_dim = 3 : si32, cluster_axis = 1 : ui32}>',
            "shard_dims = array<i64: 2, -1>, shard_direction = #ttcore.shard_direction<shard_to_full>",
        ],
    ),
    "a sharding of a result": (
        "stablehlo",
        module_of(annotated, *[(2, 4, 8, 16)] * 2),
        [MESH, 'sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}p10, {"y", ?}, {?}, {?}]>]>'],
    ),
    "a sharding of an argument": (
        "stablehlo",
        module_of(annotated_input, (128, 128), (128, 128)),
        ['%arg0: tensor<128x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %arg1'],
    ),
    "a manual computation": (
        "stablehlo",
        module_of(manual, *[(1, 1, 32, 32)] * 2),
        [
            f"in_shardings=[{SHARDED}, {SHARDED}] out_shardings=[{SHARDED}, {SHARDED}] "
            'manual_axes={"x", "y"} (%arg2: tensor<1x1x16x8xf32>, %arg3: tensor<1x1x16x8xf32>) {',
            "sdy.return %3, %4 : tensor<1x1x16x8xf32>, tensor<1x1x16x8xf32>",
        ],
    ),
    "an exchange of Shardy": (
        "stablehlo",
        module_of(gathered_by_shardy, *[(1, 1, 32, 32)] * 2),
        [
            f"sdy.sharding = #sdy.sharding_per_value<[{SHARDED}]>",
            '%1 = sdy.all_gather [{}, {}, {"x"}, {"y"}] %0 out_sharding=<@mesh, [{}, {}, {}, {}]>',
        ],
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_module_is_printed_with_what_its_calls_say(name):
    kind, function, parts = PARTS[name]
    mesh = {"shards": OrderedDict([("x", 8), ("y", 4)]), "stablehlo": None}.get(name, CHIPS)
    module, _ = apis.build_module(function, kind, mesh_dict=mesh if kind != "ttnn" else None)
    text = str(module)
    assert [part for part in parts if part not in text] == [], text


def test_an_exchange_inside_a_manual_computation_names_its_devices():
    function = module_of(manually_gathered, (1, 1, 32, 32))
    module, _ = apis.build_module(function, "stablehlo", mesh_dict=OrderedDict([("x", 1), ("y", 1)]))
    said = "all_gather_dim = 3 : i64, replica_groups = dense<0> : tensor<1x1xi64>"
    assert f'%1 = "stablehlo.all_gather"(%arg1) <{{{said}}}>' in str(module)


# --- Pipelines --------------------------------------------------------------------------------------------------------


def test_pipelines_change_the_module_in_place():
    module, _ = apis.build_module(module_of(add, (32, 32), (32, 32)), "stablehlo")
    stablehlo_to_ttir_pipeline(module)
    assert str(module).startswith('module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {')
    assert f'%0 = "ttir.add"(%arg0, %arg1) : ({T}, {T}) -> {T}' in str(module)


@pytest.mark.parametrize(
    ("body", "shape", "parts"),
    [
        (annotated_input, (128, 128), ['out_shardings=[<@mesh, [{"x"}, {"y"}]>]', "%1 = stablehlo.add %arg2, %arg3"]),
        (manual, (1, 1, 32, 32), ["stablehlo.cosine %2 : tensor<1x1x16x8xf32>", "stablehlo.sine %2"]),
    ],
    ids=["shardings", "manual"],
)
def test_shardings_are_partitioned(body, shape, parts):
    module, _ = apis.build_module(module_of(body, shape, shape), "stablehlo", mesh_dict=CHIPS)
    stablehlo_pipeline(module)
    assert [part for part in parts if part not in str(module)] == [], str(module)


# --- Runs -------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[(1, 1), (1, 2)], ids=["chip", "mesh"])
def device(request):
    """A device as scripts open it."""
    runtime.set_current_device_runtime(runtime.DeviceRuntime.TTNN)
    options = runtime.MeshDeviceOptions()
    options.dispatch_core_type = runtime.DispatchCoreType.ETH
    options.mesh_shape = request.param
    opened = runtime.open_mesh_device(options)
    yield opened
    runtime.close_mesh_device(opened)


def bypassed(x, builder):
    found = builder.sigmoid(x)
    builder.bypass(found)
    return found


RUN = {
    "functions": TWO,
    "a bypassed operation": module_of(bypassed, (32, 32)),
    "a breakpoint": module_of(lambda x, builder: builder.breakpoint(builder.sigmoid(x)), (32, 32)),
    "a snapshot of memory": module_of(
        lambda x, builder: builder.memory_snapshot(builder.sigmoid(x), "memory.json"), (32, 32)
    ),
}


@pytest.mark.parametrize("name", RUN)
def test_a_module_runs_on_an_open_device(name, device):
    apis.compile_and_execute_ttir(RUN[name], device=device)


@pytest.mark.parametrize("target", ["ttnn", "ttmetal", "emitpy"])
def test_a_module_is_compiled_for_a_target_with_its_goldens(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    builder, program, outer, inner = apis.compile_ttir_to_flatbuffer(ONE, target=target)
    assert type(builder).__name__ == "TTIRBuilder"
    x, y = (outer[0][name].shard_at(0) for name in ("input_0", "output_0"))
    torch.testing.assert_close(y, torch.sigmoid(x.double()).float())
    assert len(inner) == 1
    if target == "emitpy":
        report, _ = apis.execute_py("./ttir-builder-artifacts/emitpy/test_ttnn.mlir.py", outer, pcc=0.98)
    else:
        report, _ = apis.execute_fb(program, outer, inner)
    assert report["program_0"]["output_0"][0]["result"] == "pass"


def test_a_loaded_module_runs_whole_and_split_into_operations(device):
    text = f"""module {{
      func.func @modela(%x: {T}, %y: {T}) -> {T} {{
        %0 = "ttir.add"(%x, %y) : ({T}, {T}) -> {T}
        %1 = "ttir.sigmoid"(%0) : ({T}) -> {T}
        return %1 : {T}
      }}
    }}"""
    given = {"modela": [torch.randn(32, 32), torch.randn(32, 32)]}
    module, builder = apis.load_mlir_file(text, target="ttir", golden_inputs=given)
    right = torch.sigmoid(sum(given["modela"]).double()).float()
    torch.testing.assert_close(builder.golden_map[0][0]["output_0"].shard_at(0), right)
    parts = apis.split_mlir_file(module, builder)
    assert len(parts) == 2
    for each, own in [(module, builder), *parts]:
        program, outer, inner = apis.compile_ttir_module_to_flatbuffer(each, own)
        report, _ = apis.execute_fb(program, outer, inner, device=device)
        assert report["program_0"]["output_0"][0]["result"] == "pass"
