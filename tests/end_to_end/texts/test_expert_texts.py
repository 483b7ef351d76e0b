"""Mixtures of experts in texts: every device's results are those of a loop over tokens, and goldens say the same."""

import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import SteppedRun
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions.text_goldens import verdicts_of
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.texts.inputs import draw_inputs

EXPERTS, CHOSEN, WIDTH = 12, 3, 5
MESHES = [((2, 3), 0), ((2, 3), 1), ((1, 2), 1)]


def of_dtype(tensor):
    names = {torch.float32: "f32", torch.bfloat16: "bf16", torch.int32: "si32", torch.int64: "i64"}
    return "x".join(map(str, tensor.shape)) + "x" + names[tensor.dtype]


def on_devices(name, attributes, mesh, inputs, results):
    """The results of an op on every device, which agree with its golden."""
    types = ", ".join(f"tensor<{of_dtype(each[0])}>" for each in inputs)
    values = ", ".join(f"%a{index}" for index in range(len(inputs)))
    outputs = ", ".join(f"tensor<{each}>" for each in results)
    returned = ", ".join(f"%r#{index}" for index in range(len(results)))
    text = f"""func.func @main({", ".join(f"%a{i}: tensor<{of_dtype(each[0])}>" for i, each in enumerate(inputs))})
        -> ({outputs}) {{
      %r:{len(results)} = "{name}"({values}) {{{attributes}}} : ({types}) -> ({outputs})
      return {returned} : {outputs}
    }}"""
    module = TextModule(parse_texts(text, "test.mlir")[0], PRESETS["cpu"], mesh)
    run = SteppedRun(module, "main", [tuple(each) for each in inputs])
    for step in run.steps():
        verdicts = [*verdicts_of(module, step)]
        assert len(verdicts) == len(results) * len(inputs[0])
        assert all(each.matches for each in verdicts), [each.reason for each in verdicts if not each.matches]
    return run.results_on_devices


def groups_of(mesh, axis):
    numbers = torch.arange(mesh[0] * mesh[1]).reshape(mesh)
    return (numbers.T if axis == 0 else numbers).tolist()


def routed(mesh, tokens=4):
    """The owner of each expert, and tokens with their experts on each device."""
    devices = mesh[0] * mesh[1]
    owner = torch.arange(EXPERTS).remainder(devices)[torch.randperm(EXPERTS)]
    chosen = [
        torch.stack([torch.randperm(EXPERTS)[:CHOSEN] for _ in range(2 * tokens)]).reshape(2, 1, tokens, CHOSEN)
        for _ in range(devices)
    ]
    given = [torch.randn(2, 1, tokens, WIDTH) for _ in range(devices)]
    return owner, given, [each.int() for each in chosen]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(3)


@pytest.mark.parametrize(("mesh", "axis"), MESHES)
def test_tokens_reach_the_devices_of_their_experts_and_results_come_back(mesh, axis):
    owner, given, chosen = routed(mesh)
    devices, size = len(given), mesh[axis]
    columns = torch.nn.functional.one_hot(owner, devices)[None, None].to(torch.bfloat16)
    attributes = f"num_devices = {size} : i64, cluster_axis = {axis} : i64"
    shapes = [f"1x{2 * size}x4x{WIDTH}xf32", f"1x{2 * size}x4x{CHOSEN}xsi32"]
    tokens, experts = on_devices(
        "ttir.all_to_all_dispatch", attributes, mesh, [given, chosen, [columns] * devices], shapes
    )
    for group in groups_of(mesh, axis):
        whole = torch.cat([given[each] for each in group])[:, 0]
        of_all = torch.cat([chosen[each] for each in group])[:, 0]
        for device in group:
            needs = (owner[of_all.long()] == device).any(-1)
            assert torch.equal(tokens[device][0], whole * needs[..., None])
            assert torch.equal(experts[device][0], of_all)
    own = EXPERTS // devices
    made = [torch.randn(own, 2 * size, 4, WIDTH) for _ in range(devices)]
    attributes += f", num_experts_per_tok = {CHOSEN} : i64, output_shard_dim = 1 : i64"
    inputs = [made, list(experts), [columns] * devices]
    (back,) = on_devices("ttir.all_to_all_combine", attributes, mesh, inputs, [f"{CHOSEN}x2x4x{WIDTH}xf32"])
    for group in groups_of(mesh, axis):
        for place, device in enumerate(group):
            for k, batch, at in torch.cartesian_prod(*map(torch.arange, (CHOSEN, 2, 4))).tolist():
                expert = int(chosen[device][batch, 0, at, k])
                holder = int(owner[expert])
                rank = int((owner[:expert] == holder).sum())
                expected = made[holder][rank, 2 * place + batch, at] if holder in group else torch.zeros(WIDTH)
                assert torch.equal(back[device][k, batch, at], expected)


def test_results_come_back_along_the_sequence():
    owner = torch.tensor([0, 1, 1, 0])
    columns = torch.nn.functional.one_hot(owner, 2)[None, None].int()
    experts = torch.randint(0, 4, (1, 3, 8, 2)).int()
    made = [torch.randn(2, 3, 8, WIDTH) for _ in range(2)]
    attributes = "num_devices = 2 : i64, cluster_axis = 1 : i64, num_experts_per_tok = 2 : i64"
    inputs = [made, [experts] * 2, [columns] * 2]
    (back,) = on_devices("ttnn.all_to_all_combine", attributes, (1, 2), inputs, [f"2x3x4x{WIDTH}xf32"])
    places = torch.tensor([0, 0, 1, 1])
    for device in range(2):
        own = experts[0, :, 4 * device : 4 * device + 4].long()
        for k, batch, at in torch.cartesian_prod(*map(torch.arange, (2, 3, 4))).tolist():
            expert = int(own[batch, at, k])
            assert torch.equal(back[device][k, batch, at], made[owner[expert]][places[expert], batch, 4 * device + at])


@pytest.mark.parametrize(("mesh", "axis"), MESHES)
def test_tokens_and_their_scores_are_gathered(mesh, axis):
    owner, given, chosen = routed(mesh)
    devices, size = len(given), mesh[axis]
    rows = [each.reshape(1, 1, 8, WIDTH) for each in given]
    experts = [each.reshape(1, 1, 8, CHOSEN) for each in chosen]
    scores = [torch.rand(1, 1, 8, CHOSEN).bfloat16() for _ in range(devices)]
    mapping = owner.int().repeat(devices, 1)[None, None]
    shapes = [f"1x{8 * size}x{WIDTH}xf32", f"1x{8 * size}x{CHOSEN}xsi32", f"1x{8 * size}x{CHOSEN}xbf16"]
    attributes = f"num_devices = {size} : i64, cluster_axis = {axis} : i64"
    inputs = [rows, experts, scores, [mapping] * devices]
    found = on_devices("ttir.all_to_all_dispatch_metadata", attributes, mesh, inputs, shapes)
    for group in groups_of(mesh, axis):
        whole, of_all, score = (torch.cat([each[device][0, 0] for device in group]) for each in (rows, experts, scores))
        for device in group:
            needs = (owner[of_all.long()] == device).any(-1)
            assert torch.equal(found[0][device][0], whole * needs[:, None])
            assert torch.equal(found[1][device][0], of_all)
            assert torch.equal(found[2][device][0], score)


@pytest.mark.parametrize("size", [1, 3, 16])
def test_each_device_has_the_scores_of_its_experts(size):
    mesh = (2, 3)
    owner = torch.arange(EXPERTS).remainder(6)[torch.randperm(EXPERTS)]
    scores = [torch.rand(1, 2, 5, EXPERTS) for _ in range(6)]
    chosen = torch.stack([torch.randperm(EXPERTS)[:CHOSEN] for _ in range(10)]).reshape(1, 2, 5, CHOSEN)
    columns = torch.nn.functional.one_hot(owner, 6)[None, None]
    shapes = ["1x2x5x2xf32", f"1x1x{-(-10 // size)}x2xbf16"]
    inputs = [scores, [columns] * 6, [chosen] * 6]
    own, marks = on_devices("ttir.moe_expert_token_remap", f"reduction_size = {size} : i64", mesh, inputs, shapes)
    for device in range(6):
        numbers = (owner == device).nonzero()[:, 0]
        expected = torch.zeros(1, 2, 5, 2)
        for at, expert in enumerate(numbers.tolist()):
            expected[..., at] = scores[device][..., expert] * (chosen == expert).any(-1)
        assert torch.equal(own[device], expected)
        chunks = [(each != 0).any(0) for each in expected.reshape(10, 2).split(size)]
        assert torch.equal(marks[device][0, 0].bool(), torch.stack(chunks))


@pytest.mark.parametrize("activation", ["silu", "swiglu"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_experts_compute_their_tokens(activation, has_bias):
    mesh, hidden, inner, tokens = (1, 2), 8, 6, 6
    owner = torch.tensor([0, 0, 1, 1])
    mapping = owner.int().repeat(2, 1)
    indices = torch.stack([torch.randperm(4)[:2] for _ in range(tokens)])[None].int()
    scores = torch.rand(1, tokens, 2)
    x = [torch.randn(1, tokens, hidden) for _ in range(2)]
    shapes = [(1, 2, hidden, inner), (1, 2, hidden, inner), (1, 2, inner, hidden)]
    weights = [[torch.randn(shape) for _ in range(2)] for shape in shapes]
    biases = [[torch.randn(1, 2, extent) for _ in range(2)] for extent in (inner, inner, hidden)] if has_bias else []
    sizes = ", ".join(["1"] * 7 + ["1" if has_bias else "0"] * 3)
    attributes = (
        f"operandSegmentSizes = array<i32: {sizes}>, layer_id = 0 : ui32, output_height_shard_dim = 4 : ui32, "
        f"intermediate_size = 32 : ui32, cluster_axis = 1 : ui32, "
        f"activation_function = #ttcore.moe_activation_function<{activation}>"
    )
    inputs = [x, [indices] * 2, [scores] * 2, [mapping] * 2, *weights, *biases]
    (found,) = on_devices("ttir.moe_compute", attributes, mesh, inputs, [f"2x3x{hidden}xf32"])
    for device in range(2):
        for at, k in torch.cartesian_prod(torch.arange(3), torch.arange(2)).tolist():
            expert = int(indices[0, 3 * device + at, k])
            holder, rank = divmod(expert, 2)
            added = [each[holder][0, rank].double() for each in biases] or [0.0] * 3
            w0, w1, w2 = (each[holder][0, rank].double() for each in weights)
            row = x[holder][0, 3 * device + at].double()
            gate, up = row @ w0 + added[0], row @ w1 + added[1]
            if activation == "swiglu":
                gate, up = gate.clamp(max=7), up.clamp(-7, 7) + 1
                inner_row = gate * torch.sigmoid(1.702 * gate) * up
            else:
                inner_row = gate * torch.sigmoid(gate) * up
            expected = inner_row @ w2 + added[2]
            torch.testing.assert_close(found[device][k, at].double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("attributes", "columns", "message"),
    [
        ("num_devices = 3 : i64, cluster_axis = 1 : i64", 2, "`num_devices` is 3, and 2 devices lie along the axis"),
        ("num_devices = 2 : i64, cluster_axis = 1 : i64", 4, "the mapping has 4 columns, and the mesh 2 devices"),
    ],
)
def test_meshes_of_other_sizes_are_refused(attributes, columns, message):
    inputs = [[torch.ones(1, 1, 2, 3)] * 2, [torch.zeros(1, 1, 2, 1).int()] * 2, [torch.ones(1, 1, 4, columns)] * 2]
    with pytest.raises(CompileError, match=message):
        on_devices("ttir.all_to_all_dispatch", attributes, (1, 2), inputs, ["1x2x2x3xf32", "1x2x2x1xsi32"])


def test_experts_beyond_the_rows_of_a_device_give_zeros():
    columns = torch.tensor([[1, 1], [1, 0], [1, 0], [0, 1]])[None, None]
    experts = torch.arange(4).int().reshape(1, 1, 4, 1)
    made = [torch.full((2, 1, 4, 3), 10.0) + device for device in range(2)]
    attributes = "num_devices = 2 : i64, cluster_axis = 1 : i64, num_experts_per_tok = 1 : i64"
    inputs = [made, [experts] * 2, [columns] * 2]
    (back,) = on_devices("ttir.all_to_all_combine", attributes, (1, 2), inputs, ["1x1x2x3xf32"])
    assert torch.cat([back[0], back[1]], 2)[0, 0, :, 0].tolist() == [11.0, 10.0, 0.0, 11.0]
    scores = [torch.rand(1, 1, 4, 4) + 1 for _ in range(2)]
    few = torch.tensor([[0, 1], [0, 0], [1, 0], [1, 0]])[None, None]
    inputs = [scores, [few] * 2, [experts] * 2]
    own, _ = on_devices(
        "ttir.moe_expert_token_remap", "reduction_size = 2 : i64", (1, 2), inputs, ["1x1x4x2xf32", "1x1x2x2xbf16"]
    )
    numbers = [[2, 3], [0, None]]
    for device, per_column in enumerate(numbers):
        for at, expert in enumerate(per_column):
            expected = torch.zeros(4)
            if expert is not None:
                expected[expert] = scores[device][0, 0, expert, expert]
            assert torch.equal(own[device][0, 0, :, at], expected)


def test_the_dimension_of_tokens_is_the_one_of_which_a_part_remains():
    """tt-mlir's default was 1 once, and is 2."""
    columns = torch.tensor([[1, 0], [0, 1]])[None, None]
    experts = torch.randint(0, 2, (1, 2, 6, 1)).int()
    made = [torch.randn(1, 2, 6, 3) for _ in range(2)]
    attributes = "num_devices = 2 : i64, cluster_axis = 1 : i64"
    inputs = [made, [experts] * 2, [columns] * 2]
    found = {}
    for dim, shape in enumerate(["1x1x6x3xf32", "1x2x3x3xf32"], 1):
        (implied,) = on_devices("ttir.all_to_all_combine", attributes, (1, 2), inputs, [shape])
        stated = f"{attributes}, output_shard_dim = {dim} : i64"
        (found[dim],) = on_devices("ttir.all_to_all_combine", stated, (1, 2), inputs, [shape])
        assert all(torch.equal(*pair) for pair in zip(implied, found[dim], strict=True))
    assert torch.equal(torch.cat([*found[1]], 1), torch.cat([*found[2]], 2))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_text_without_experts_has_the_mesh_of_its_groups(axis):
    text = f"""func.func @main(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {{
      %r = "ttir.all_gather"(%x) {{all_gather_dim = 1 : si32, cluster_axis = {axis} : ui32}}
          : (tensor<4x4xf32>) -> tensor<4x8xf32>
      return %r : tensor<4x8xf32>
    }}"""
    assert mesh_of_text(parse_texts(text, "test.mlir")[0]) == ((2, 1) if axis == 0 else (1, 2))


def test_a_text_of_pairs_has_a_mesh_of_the_devices_that_they_name():
    text = """func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %r = "ttir.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [3, 2]]> : tensor<2x2xi64>}>
          : (tensor<4x4xf32>) -> tensor<4x4xf32>
      return %r : tensor<4x4xf32>
    }"""
    assert mesh_of_text(parse_texts(text, "test.mlir")[0]) == (1, 4)


@pytest.mark.parametrize("dialect", ["ttir", "stablehlo"])
def test_drawn_assignments_have_one_device_for_each_expert(dialect):
    attributes = {"num_devices": 2, "cluster_axis": 0, "num_experts_per_tok": 3, "output_shard_dim": 1}
    written = ", ".join(f"{name} = {number} : i64" for name, number in attributes.items())
    listed = ", ".join(f'{name} = "{number}"' for name, number in attributes.items())
    op = {
        "ttir": f'"ttir.all_to_all_combine"(%x, %chosen, %same) {{{written}}}',
        "stablehlo": f"stablehlo.custom_call @tt.all_to_all_combine(%x, %chosen, %same) "
        f"{{api_version = 0 : i32, mhlo.frontend_attributes = {{{listed}}}}}",
    }[dialect]
    cast = {"ttir": '"ttir.reshape"(%columns) {shape = [1 : i32, 1 : i32, 12 : i32, 8 : i32]}'}
    reshaped = cast.get(dialect, "stablehlo.reshape %columns")
    types = "(tensor<12x8xi64>) -> tensor<1x1x12x8xi64>"
    text = f"""func.func @main(%columns: tensor<12x8xi64>, %chosen: tensor<1x2x4x3xi64>, %x: tensor<4x2x4x5xf32>)
        -> tensor<3x1x4x5xf32> {{
      %same = {reshaped} : {types}
      %r = {op} : (tensor<4x2x4x5xf32>, tensor<1x2x4x3xi64>, tensor<1x1x12x8xi64>) -> tensor<3x1x4x5xf32>
      return %r : tensor<3x1x4x5xf32>
    }}"""
    module = parse_texts(text, "test.mlir")[0]
    assert mesh_of_text(module) == ((2, 4) if dialect == "ttir" else (1, 8))
    made = TextModule(module, PRESETS["cpu"], (2, 4))
    columns, chosen, _ = draw_inputs(made.functions["main"], made.program("main").arguments, 0)
    assert torch.equal(columns.sum(1), torch.ones(12).long())
    assert set(columns.sum(0).tolist()) == {1, 2}
    assert set(chosen.unique().tolist()) <= set(range(12))
