"""Parameters of torch models as ttnn tensors."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.ttnn import model_preprocessing as preprocessing
from ttnn_jit.ttnn.models.model_parameters import ModuleArgs, ParameterDict, ParameterList, make_parameter_dict

BF16 = ttnn.bfloat16


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.up = torch.nn.Linear(8, 16)
        self.down = torch.nn.Linear(16, 8, bias=False)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(10, 8)
        self.scale = torch.nn.Parameter(torch.full((8,), 2.0))
        self.layers = torch.nn.ModuleList([Block(), Block()])
        self.head = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())


class Images(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.norm = torch.nn.BatchNorm2d(6)
        self.pool = torch.nn.MaxPool2d(2)
        self.more = torch.nn.Sequential(torch.nn.ConvTranspose2d(6, 2, 2))

    def forward(self, x):
        return self.more(self.pool(self.norm(self.conv(x))))


@pytest.fixture(scope="module")
def model():
    return Model()


def converted(model, **keywords):
    return preprocessing.preprocess_model_parameters(initialize_model=lambda: model, **keywords)


def same(tensor, expected):
    assert tensor.dtype is BF16
    assert torch.equal(tensor.to_torch(), expected.detach().bfloat16())


def test_parameters_are_nested_as_the_modules_and_converted_as_operations_want_them(model, device):
    parameters = converted(model, device=device)
    block = model.layers[1]
    same(parameters.layers[1].up.weight, block.up.weight.T)
    same(parameters.layers[1].up.bias, block.up.bias.reshape(1, -1))
    same(parameters["layers"][0].norm.weight, model.layers[0].norm.weight.reshape(1, -1))
    same(parameters.table.weight, model.table.weight)
    same(parameters.scale, model.scale)
    same(parameters.head[0].weight, model.head[0].weight.T)
    assert parameters.layers[0].down.keys() == {"weight"}
    assert (parameters.layers[0].up.weight.layout, parameters.table.weight.layout) == (
        ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT,
    )  # fmt: skip
    assert parameters.layers[0].up.weight.device() is device
    assert converted(model).scale.device() is None
    assert not model.training


def test_parameters_are_attributes_and_items_and_print_as_ttnn_prints_them(model):
    parameters = converted(model)
    assert type(parameters) is ParameterDict
    assert type(parameters.layers) is ParameterList
    assert (0 in parameters.layers, 2 in parameters.layers, "bias" in parameters.head[0]) == (True, False, True)
    assert not hasattr(parameters, "head2")
    with pytest.raises(AttributeError, match="there is no parameter `head2`; there are `scale`, `table`"):
        _ = parameters.head2
    assert repr(parameters.head) == (
        "{\n  0: {\n    weight: ttnn.Tensor(shape=Shape([8, 4]), layout=Layout.TILE, dtype=DataType.BFLOAT16),\n"
        "    bias: ttnn.Tensor(shape=Shape([1, 4]), layout=Layout.TILE, dtype=DataType.BFLOAT16)\n  }\n}"
    )
    assert (repr(ParameterDict()), repr(ParameterList())) == ("{}", "[]")
    parameters.extra = 3
    del parameters.scale
    assert (parameters["extra"], "scale" in parameters) == (3, False)


def test_modules_that_are_not_converted_keep_their_torch_parameters(model):
    parameters = converted(model, convert_to_ttnn=lambda _, name: not name.startswith("layers.0"))
    kept, made = parameters.layers
    assert torch.equal(kept.up.weight, model.layers[0].up.weight.T)
    assert kept.up.bias is model.layers[0].up.bias
    assert isinstance(made.up.bias, ttnn.Tensor)


def test_a_custom_preprocessor_has_the_first_word(model):
    names = []

    def halved(module, name, convert_to_ttnn):
        names.append((name, convert_to_ttnn(module, name)))
        if isinstance(module, torch.nn.Linear):
            return {"weight": ttnn.from_torch(module.weight / 2), "of": {"inputs": module.in_features}}
        return None

    parameters = converted(model, custom_preprocessor=halved, prefix="m")
    assert torch.equal(parameters.head[0].weight.to_torch(), model.head[0].weight.detach() / 2)
    assert parameters.head[0].of.inputs == 8
    assert ("m.layers.1.down", True) in names
    same(parameters.layers[0].norm.bias, model.layers[0].norm.bias.reshape(1, -1))


def test_what_is_no_preprocessor_or_model_is_refused(model):
    with pytest.raises(ArgumentError, match=r"takes \(model, name\), optionally followed by .*; this one takes \(_\)"):
        converted(model, custom_preprocessor=lambda _: {})
    with pytest.raises(ArgumentError, match=r"`initialize_model` must return a torch.nn.Module, got int"):
        preprocessing.preprocess_model_parameters(initialize_model=lambda: 3)
    with pytest.raises(ArgumentError, match=r"`device` of preprocess_model_parameters must be a ttnn.Device"):
        converted(model, device=0)
    with pytest.raises(ArgumentError, match="`dictionary` of make_parameter_dict must be a Mapping, got a list"):
        make_parameter_dict([1])


@settings(deadline=None)
@given(shape=st.tuples(st.integers(1, 40), st.integers(1, 40)), dtype=st.sampled_from([BF16, ttnn.float32]))
def test_single_parameters_are_converted_without_a_model(shape, dtype):
    weight = torch.randn(shape)
    made = {
        "preprocess_linear_weight": (weight, weight.T, ttnn.TILE_LAYOUT),
        "preprocess_linear_bias": (weight[0], weight[:1], ttnn.TILE_LAYOUT),
        "preprocess_layernorm_parameter": (weight[0], weight[:1], ttnn.TILE_LAYOUT),
        "preprocess_embedding_weight": (weight, weight, ttnn.ROW_MAJOR_LAYOUT),
    }
    for name, (given_, expected, layout) in made.items():
        tensor = getattr(ttnn.model_preprocessing, name)(given_, dtype=dtype)
        assert (tensor.dtype, tensor.layout, tensor.device()) == (dtype, layout, None)
        assert torch.equal(tensor.to_torch(), expected.to(dtype.torch))


def test_weights_are_cut_for_a_mesh():
    mesh, weight = ttnn.open_mesh_device((1, 2)), torch.randn(4, 6)
    tensor = preprocessing.preprocess_linear_weight(
        weight, dtype=ttnn.float32, weights_mesh_mapper=ttnn.ShardTensorToMesh(mesh, 1)
    )
    parts = [part.to_torch() for part in ttnn.get_device_tensors(tensor)]
    assert torch.equal(torch.cat(parts, 1), weight.T)
    ttnn.close_mesh_device(mesh)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_a_norm_is_folded_into_the_convolution_before_it(bias, affine):
    conv, norm = torch.nn.Conv2d(3, 5, 3, bias=bias).double(), torch.nn.BatchNorm2d(5, affine=affine).double()
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    x = torch.randn(2, 3, 8, 8, dtype=torch.float64)
    weight, shift = preprocessing.fold_batch_norm2d_into_conv2d(conv, norm)
    expected = norm.eval()(conv(x))
    torch.testing.assert_close(torch.nn.functional.conv2d(x, weight, shift), expected)
    with pytest.raises(ArgumentError, match=r"keeps no running statistics\nhelp: make it with"):
        preprocessing.fold_batch_norm2d_into_conv2d(conv, torch.nn.BatchNorm2d(5, track_running_stats=False))


def test_what_convolutions_and_pools_are_run_on_is_found_by_a_run():
    model = Images().eval()
    args = preprocessing.infer_ttnn_module_args(
        model=model, run_model=lambda run: run(torch.randn(2, 3, 16, 20)), device=None
    )
    conv, pool, transposed = args.conv, args.pool, args.more[0]
    assert (conv.batch_size, conv.input_height, conv.input_width) == (2, 16, 20)
    assert (conv.in_channels, conv.out_channels, conv.kernel_size, conv.stride) == (3, 6, (3, 3), (2, 2))
    assert (pool.input_height, pool.input_width, pool.kernel_size) == (8, 10, 2)
    assert (transposed.input_height, transposed.output_padding) == (4, (0, 0))
    assert not hasattr(conv, "no_such")
    assert preprocessing.infer_ttnn_module_args(model=model, run_model=None) is None
    assert not model.conv._forward_pre_hooks
    parameters = preprocessing.preprocess_model(
        initialize_model=lambda: model, run_model=lambda run: run(torch.randn(1, 3, 8, 8))
    )
    assert parameters.conv.ttnn_module_args.input_width == 8
    assert isinstance(parameters.conv.ttnn_module_args, ModuleArgs)


# --- ttnn.CONFIG ----------------------------------------------------------------------------------------------------


def test_settings_are_kept_and_given_back(tmp_path):
    assert ttnn.CONFIG.enable_fast_runtime_mode is True
    with ttnn.manage_config("enable_fast_runtime_mode", False):
        assert ttnn.CONFIG.enable_fast_runtime_mode is False
        ttnn.save_config_to_json_file(tmp_path / "config.json")
    assert ttnn.CONFIG.enable_fast_runtime_mode is True
    ttnn.load_config_from_json_file(tmp_path / "config.json")
    assert ttnn.CONFIG.enable_fast_runtime_mode is False
    ttnn.load_config_from_dictionary({"enable_fast_runtime_mode": True, "report_name": "run"})
    assert ttnn.CONFIG.report_path == ttnn.CONFIG.root_report_path / "run"
    ttnn.CONFIG.report_name = None
    assert ttnn.CONFIG.report_path is None
    assert "enable_fast_runtime_mode=True" in repr(ttnn.CONFIG)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("enable_model_cache", True, r"is not supported\nhelp: keep converted weights by"),
        ("no_such", 1, r"has no setting `no_such`\nhelp: it has `cache_path`"),
        ("tmp_dir", 3, "must be a path, got int"),
        ("enable_fast_runtime_mode", "yes", "must be True or False, got str"),
        ("comparison_mode_pcc", "high", "must be a number, got str"),
    ],
)
def test_a_setting_that_asks_for_what_is_not_here_is_refused(name, value, text):
    with pytest.raises(ArgumentError, match=text):
        setattr(ttnn.CONFIG, name, value)
    with pytest.raises(ArgumentError, match=text):
        ttnn.load_config_from_dictionary({name: value})


def test_files_of_settings_that_are_none_are_refused(tmp_path):
    for text in ("{", "[]"):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ArgumentError, match=r"config.json (is no JSON|holds no JSON object)"):
            ttnn.load_config_from_json_file(tmp_path / "config.json")


def test_what_parameters_were_on_the_host_is_given_back_as_they_move(cpu_device):
    model = torch.nn.Sequential(*(torch.nn.Linear(800, 800, bias=False) for _ in range(6)))
    HOST_POOL.release_idle()
    before = HOST_POOL.statistics(), cpu_device.first_fit.statistics()
    parameters = preprocessing.preprocess_model_parameters(initialize_model=lambda: model, device=cpu_device)
    after = HOST_POOL.statistics(), cpu_device.first_fit.statistics()
    blocks, mapped = (
        sum(getattr(pool, name) for pool in after) - sum(getattr(pool, name) for pool in before)
        for name in ("live_bytes", "mapped_bytes")
    )
    assert blocks >= sum(parameters[layer].weight.spec.nbytes for layer in range(6))
    assert mapped < 1.5 * blocks
    assert all(parameters[layer].weight.device() is cpu_device for layer in range(6))


def test_moving_parameters_leaves_those_that_were_given(cpu_device):
    given = ParameterDict(weight=ttnn.from_torch(torch.ones(2, 2)), rest=ParameterList([ParameterDict(), 3]))
    moved = preprocessing.move_to_device(given, cpu_device)
    assert moved.weight.device() is cpu_device
    assert given.weight.device() is None
    assert moved.rest == given.rest
