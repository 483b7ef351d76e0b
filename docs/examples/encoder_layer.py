# A layer of a transformer encoder: parameters of a torch module as ttnn tensors, attention and a feed-forward network.
#
#     python -m ttnn_jit docs/examples/encoder_layer.py

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight, preprocess_model_parameters

BATCH, SEQUENCE, HIDDEN, HEADS = 2, 64, 128, 4
HEAD = HIDDEN // HEADS


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(HIDDEN)
        self.query, self.key, self.value, self.output = (torch.nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.feed_forward = torch.nn.Sequential(
            torch.nn.LayerNorm(HIDDEN),
            torch.nn.Linear(HIDDEN, 4 * HIDDEN),
            torch.nn.GELU(),
            torch.nn.Linear(4 * HIDDEN, HIDDEN),
        )

    def forward(self, x):
        normed = self.norm(x)
        heads = [
            part(normed).view(BATCH, SEQUENCE, HEADS, HEAD).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        ]
        attended = torch.nn.functional.scaled_dot_product_attention(*heads)
        x = x + self.output(attended.transpose(1, 2).reshape(BATCH, SEQUENCE, HIDDEN))
        return x + self.feed_forward(x)


def joined_query_key_value(model, _name):
    """One weight for three products."""
    if isinstance(model, Encoder):
        parts = (model.query, model.key, model.value)
        joined = torch.cat([part.weight for part in parts])
        return {
            "norm": {"weight": row(model.norm.weight), "bias": row(model.norm.bias)},
            "query_key_value": {
                "weight": preprocess_linear_weight(joined, dtype=ttnn.bfloat16),
                "bias": preprocess_linear_bias(torch.cat([part.bias for part in parts]), dtype=ttnn.bfloat16),
            },
            "output": linear(model.output),
            "feed_forward": {
                "norm": {"weight": row(model.feed_forward[0].weight), "bias": row(model.feed_forward[0].bias)},
                "up": linear(model.feed_forward[1]),
                "down": linear(model.feed_forward[3]),
            },
        }
    return None


def row(parameter):
    return ttnn.model_preprocessing.preprocess_layernorm_parameter(parameter, dtype=ttnn.bfloat16)


def linear(module):
    return {
        "weight": preprocess_linear_weight(module.weight, dtype=ttnn.bfloat16),
        "bias": preprocess_linear_bias(module.bias, dtype=ttnn.bfloat16),
    }


def encoder(x, parameters, *, compute_kernel_config):
    normed = ttnn.layer_norm(x, weight=parameters.norm.weight, bias=parameters.norm.bias, epsilon=1e-5)
    fused = ttnn.linear(
        normed,
        parameters.query_key_value.weight,
        bias=parameters.query_key_value.bias,
        compute_kernel_config=compute_kernel_config,
        core_grid=ttnn.CoreGrid(x=8, y=8),
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
    )
    heads = ttnn.reshape(fused, (BATCH, SEQUENCE, 3, HEADS, HEAD))
    query, key, value = (ttnn.permute(ttnn.squeeze(part, 2), (0, 2, 1, 3)) for part in ttnn.split(heads, 1, dim=2))
    scores = ttnn.matmul(query, ttnn.transpose(key, -2, -1), compute_kernel_config=compute_kernel_config)
    scores = ttnn.multiply(scores, HEAD**-0.5)
    attended = ttnn.matmul(ttnn.softmax(scores, dim=-1, numeric_stable=True), value)
    ttnn.deallocate(scores)
    merged = ttnn.reshape(ttnn.permute(attended, (0, 2, 1, 3)), (BATCH, SEQUENCE, HIDDEN))
    x = ttnn.add(x, ttnn.linear(merged, parameters.output.weight, bias=parameters.output.bias))
    x = ttnn.reallocate(x)

    hidden = parameters.feed_forward
    normed = ttnn.layer_norm(x, weight=hidden.norm.weight, bias=hidden.norm.bias, epsilon=1e-5)
    grown = ttnn.linear(normed, hidden.up.weight, bias=hidden.up.bias, activation="gelu")
    return ttnn.add(x, ttnn.linear(grown, hidden.down.weight, bias=hidden.down.bias))


def main():
    torch.manual_seed(0)
    device = ttnn.open_device(device_id=0)
    model = Encoder().eval()
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, custom_preprocessor=joined_query_key_value, device=device
    )
    print(parameters.query_key_value)
    config = ttnn.init_device_compute_kernel_config(
        device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True
    )
    torch_x = torch.randn(BATCH, SEQUENCE, HIDDEN)
    x = ttnn.from_torch(torch_x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    result = ttnn.to_torch(encoder(x, parameters, compute_kernel_config=config))
    ttnn.ReadDeviceProfiler(device)

    with torch.no_grad():
        expected = model(torch_x)
    correlation = ttnn.pearson_correlation_coefficient(expected, result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.999
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
