"""Parts of models in traces: a replay equals a call, also when it writes into a cache."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from benchmarks.programs.model_programs import module_of
from ttnn_jit import ttnn
from ttnn_jit.foreign.pytrees import leaves


def tensor(*shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    return lambda device: ttnn.from_torch(torch.randn(shape), dtype=dtype, layout=layout, device=device)


def indices(values):
    return lambda device: ttnn.from_torch(torch.tensor(values), dtype=ttnn.int32, device=device)


def conv2d(x, weight, bias):
    sizes = {"in_channels": 8, "out_channels": 16, "batch_size": 1, "input_height": 8, "input_width": 8}
    window = {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1)}
    options = {"return_output_dim": True, "return_weights_and_bias": True}
    tensors = {"input_tensor": x, "weight_tensor": weight, "bias_tensor": bias, "device": x.device()}
    return ttnn.conv2d(**tensors, **sizes, **window, **options)


def prepared(device):
    """The weight and the bias of `conv2d` as a first call prepared them."""
    weight, bias = (
        ttnn.from_torch(torch.randn(shape), dtype=ttnn.bfloat16) for shape in ((16, 8, 3, 3), (1, 1, 1, 16))
    )
    _, _, (weight, bias) = conv2d(ROWS(device), weight, bias)
    return weight, bias


ROWS = tensor(1, 1, 64, 8, layout=ttnn.ROW_MAJOR_LAYOUT)
HEADS, CACHE = tensor(1, 4, 64, 32), tensor(2, 4, 64, 32)
OPERATIONS = {
    "heads": (lambda x: ttnn.experimental.nlp_create_qkv_heads(x, num_heads=4, num_kv_heads=4), tensor(1, 1, 32, 384)),
    "attention": (
        lambda q, k, v: ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=True), HEADS, HEADS, HEADS,
    ),
    "decode": (
        lambda q, k, v, at: ttnn.transformer.scaled_dot_product_attention_decode(q, k, v, cur_pos_tensor=at),
        tensor(1, 2, 4, 32), CACHE, CACHE, indices([3, 5]),
    ),
    "fill_cache": (lambda cache, x: ttnn.fill_cache(cache, x, 1), CACHE, tensor(1, 4, 32, 32)),
    "paged_update_cache": (
        lambda cache, x, at: ttnn.experimental.paged_update_cache(cache, x, update_idxs_tensor=at),
        CACHE, tensor(1, 2, 4, 32), indices([3, 5]),
    ),
    "rotary": (ttnn.experimental.rotary_embedding, HEADS, tensor(1, 1, 64, 32), tensor(1, 1, 64, 32)),
    "plus_one": (ttnn.plus_one, indices([3, 5])),
    "copy": (ttnn.copy, HEADS, HEADS),
    "part": (lambda x, y: x.__setitem__((slice(0, 32), slice(32, 64)), y), tensor(64, 64), tensor(32, 32)),
    "softmax": (ttnn.softmax_in_place, HEADS),
    "conv2d": (lambda x, weights: conv2d(x, *weights), ROWS, prepared),
    "pool": (lambda x: ttnn.max_pool2d(x, 1, 8, 8, 8, [2, 2], [2, 2], [0, 0], [1, 1]), ROWS),
    "group_norm": (lambda x: ttnn.group_norm(x, num_groups=4, epsilon=1e-5), tensor(1, 1, 64, 32)),
    "sampling": (lambda x: (ttnn.topk(x, 32), ttnn.argmax(x, -1)), tensor(1, 1, 32, 64)),
}  # fmt: skip


def numbers(*values):
    return [ttnn.to_torch(each) for each in leaves(list(values)) if isinstance(each, ttnn.Tensor)]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_replay_returns_and_writes_what_calls_do(name, target):
    function, *makers = OPERATIONS[name]
    device = ttnn.open_device(device_id=0, target=target)
    torch.manual_seed(0)
    inputs = [maker(device) for maker in makers]
    torch.manual_seed(0)
    again = [maker(device) for maker in makers]
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    result = function(*inputs)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    for _ in range(2):
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        got, wanted = numbers(result, inputs), numbers(function(*again), again)
        assert len(got) == len(wanted)
        assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
    ttnn.close_device(device)


@pytest.mark.filterwarnings("ignore:.*on an operation is ignored inside a jitted function")
@pytest.mark.parametrize("compiled", [lambda function: function, ttnn_jit.jit()], ids=["eager", "jitted"])
def test_one_trace_of_a_decoder_generates_every_token_as_calls_do(compiled, cpu_device):
    module, steps = module_of("gpt2"), []

    def noted(function):
        made = compiled(function)

        def call(config, *tensors, parameters):
            *inputs, caches = tensors
            given = [ttnn.from_device(each) for each in inputs]
            steps.append((function, config, given, caches, parameters, made(config, *tensors, parameters=parameters)))
            return steps[-1][-1]

        return call

    run, _ = module.build(module.SMALL, cpu_device, compiled=noted)
    run()
    _, *tokens = steps
    function, config, given, caches, parameters, _ = tokens[0]
    inputs = [ttnn.to_device(each, cpu_device) for each in given]
    decode = compiled(function)
    decode(config, *inputs, caches, parameters=parameters)
    trace = ttnn.begin_trace_capture(cpu_device, cq_id=0)
    logits = decode(config, *inputs, caches, parameters=parameters)
    ttnn.end_trace_capture(cpu_device, trace, cq_id=0)
    for *_, given, _, _, wanted in tokens:
        for host, device_tensor in zip(given, inputs, strict=True):
            ttnn.copy_host_to_device_tensor(host, device_tensor)
        ttnn.execute_trace(cpu_device, trace, cq_id=0, blocking=True)
        assert torch.equal(ttnn.to_torch(logits), ttnn.to_torch(wanted))


def test_a_jitted_model_in_a_trace_gives_what_it_gives_alone(cpu_device):
    module = module_of("bert")
    run, _ = module.build(module.SMALL, cpu_device, compiled=ttnn_jit.jit())
    wanted = ttnn.to_torch(run())
    trace = ttnn.begin_trace_capture(cpu_device, cq_id=0)
    result = run()
    ttnn.end_trace_capture(cpu_device, trace, cq_id=0)
    for _ in range(2):
        ttnn.execute_trace(cpu_device, trace, cq_id=0, blocking=True)
        assert torch.equal(ttnn.to_torch(result), wanted)
