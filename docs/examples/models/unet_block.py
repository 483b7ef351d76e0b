# Two blocks of a diffusion model's UNet, one down and one up: group norms, convolutions, the time step, and
# transformers that attend to a text.
#
#     python -m ttnn_jit docs/examples/models/unet_block.py

import math
from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_weight, preprocess_model_parameters


@dataclass(frozen=True)
class Config:
    size: int = 16
    in_channels: int = 32
    channels: int = 64
    heads: int = 4
    groups: int = 32
    context: int = 96
    tokens: int = 13

    @property
    def head(self):
        return self.channels // self.heads

    @property
    def padded_head(self):
        return TILE * -(-self.head // TILE)


TILE = 32
SMALL = Config()
FULL = Config(32, 320, 640, 8, 32, 768, 77)


# The model in torch


class ResnetBlock2D(torch.nn.Module):
    def __init__(self, config, inputs, outputs):
        super().__init__()
        self.norm1 = torch.nn.GroupNorm(config.groups, inputs, eps=1e-5)
        self.conv1 = torch.nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time_emb_proj = torch.nn.Linear(4 * config.in_channels, outputs)
        self.norm2 = torch.nn.GroupNorm(config.groups, outputs, eps=1e-5)
        self.conv2 = torch.nn.Conv2d(outputs, outputs, 3, padding=1)
        if inputs != outputs:
            self.conv_shortcut = torch.nn.Conv2d(inputs, outputs, 1)

    def forward(self, x, temb):
        silu = torch.nn.functional.silu
        hidden = self.conv1(silu(self.norm1(x)))
        hidden = hidden + self.time_emb_proj(silu(temb))[:, :, None, None]
        hidden = self.conv2(silu(self.norm2(hidden)))
        return hidden + (self.conv_shortcut(x) if hasattr(self, "conv_shortcut") else x)


class CrossAttention(torch.nn.Module):
    def __init__(self, config, context):
        super().__init__()
        self.config = config
        self.to_q = torch.nn.Linear(config.channels, config.channels, bias=False)
        self.to_k = torch.nn.Linear(context, config.channels, bias=False)
        self.to_v = torch.nn.Linear(context, config.channels, bias=False)
        self.to_out = torch.nn.Linear(config.channels, config.channels)

    def forward(self, x, context):
        query, key, value = (
            part(given).unflatten(-1, (self.config.heads, -1)).transpose(1, 2)
            for part, given in ((self.to_q, x), (self.to_k, context), (self.to_v, context))
        )
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return self.to_out(attended.transpose(1, 2).flatten(2))


class BasicTransformerBlock(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        channels = config.channels
        self.norm1, self.attn1 = torch.nn.LayerNorm(channels), CrossAttention(config, channels)
        self.norm2, self.attn2 = torch.nn.LayerNorm(channels), CrossAttention(config, config.context)
        self.norm3 = torch.nn.LayerNorm(channels)
        self.geglu, self.ff = torch.nn.Linear(channels, 8 * channels), torch.nn.Linear(4 * channels, channels)

    def forward(self, x, context):
        normed = self.norm1(x)
        x = x + self.attn1(normed, normed)
        x = x + self.attn2(self.norm2(x), context)
        grown, gate = self.geglu(self.norm3(x)).chunk(2, -1)
        return x + self.ff(grown * torch.nn.functional.gelu(gate))


class Transformer2D(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = torch.nn.GroupNorm(config.groups, config.channels, eps=1e-6)
        self.proj_in = torch.nn.Conv2d(config.channels, config.channels, 1)
        self.block = BasicTransformerBlock(config)
        self.proj_out = torch.nn.Conv2d(config.channels, config.channels, 1)

    def forward(self, x, context):
        hidden = self.proj_in(self.norm(x))
        size = hidden.shape[2:]
        hidden = self.block(hidden.flatten(2).transpose(1, 2), context)
        return x + self.proj_out(hidden.transpose(1, 2).unflatten(2, size))


class UNetBlocks(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        channels, time = config.channels, 4 * config.in_channels
        self.config = config
        self.linear_1, self.linear_2 = torch.nn.Linear(config.in_channels, time), torch.nn.Linear(time, time)
        self.down_resnet = ResnetBlock2D(config, config.in_channels, channels)
        self.down_attention = Transformer2D(config)
        self.downsample = torch.nn.Conv2d(channels, channels, 3, 2, 1)
        self.upsample = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.up_resnet = ResnetBlock2D(config, 2 * channels, channels)
        self.up_attention = Transformer2D(config)

    def forward(self, x, time, context):
        temb = self.linear_2(torch.nn.functional.silu(self.linear_1(time)))
        skip = self.down_attention(self.down_resnet(x, temb), context)
        x = self.downsample(skip)
        x = self.upsample(torch.nn.functional.interpolate(x, scale_factor=2))
        return self.up_attention(self.up_resnet(torch.cat([x, skip], 1), temb), context)


def timestep_embedding(timestep, channels):
    half = channels // 2
    angles = timestep * torch.exp(torch.arange(half) * (-math.log(10000) / half))
    return torch.cat([angles.cos(), angles.sin()])


# Parameters for ttnn


def pad_heads(weight, config):
    """Rows padded to heads of whole tiles."""
    by_head = weight.unflatten(0, (config.heads, -1))
    return torch.nn.functional.pad(by_head, (0, 0, 0, config.padded_head - config.head)).flatten(0, 1)


def custom_preprocessor(model, name):
    parameters = {}
    if isinstance(model, torch.nn.Conv2d):
        parameters["weight"] = ttnn.from_torch(model.weight, ttnn.float32)
        parameters["bias"] = ttnn.from_torch(model.bias.reshape(1, 1, 1, -1), ttnn.float32)
    elif isinstance(model, torch.nn.GroupNorm):
        channels, groups = model.num_channels, model.num_groups
        for part in ("weight", "bias"):
            rows = ttnn.create_group_norm_weight_bias_rm(getattr(model, part), channels, 1)
            parameters[part] = ttnn.from_torch(rows, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT)
        parameters["input_mask"] = ttnn.create_group_norm_input_mask(channels, groups, 1)
    elif isinstance(model, CrossAttention):
        query, key, value = (pad_heads(part.weight, model.config) for part in (model.to_q, model.to_k, model.to_v))
        if key.shape == query.shape:
            parameters["qkv"] = preprocess_linear_weight(torch.cat([query, key, value]), dtype=ttnn.bfloat16)
        else:
            parameters["q"] = preprocess_linear_weight(query, dtype=ttnn.bfloat16)
            by_head = (part.unflatten(0, (model.config.heads, -1)) for part in (key, value))
            kv = torch.cat([*by_head], 1).flatten(0, 1)  # a head's keys, then its values
            parameters["kv"] = preprocess_linear_weight(kv, dtype=ttnn.bfloat16)
        out = pad_heads(model.to_out.weight.T, model.config).T
        parameters["out"] = preprocess_linear_weight(out, dtype=ttnn.bfloat16)
        bias = model.to_out.bias.reshape(1, 1, 1, -1)
        parameters["out_bias"] = ttnn.from_torch(bias, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    return parameters


# The model in ttnn: images x rows x columns are flattened, (1, 1, N * H * W, C)


class Conv:
    def __init__(self, parameters, device, batch_size, size, stride=1):
        self.weight, self.bias = ttnn.from_device(parameters.weight), ttnn.from_device(parameters.bias)
        out_channels, in_channels, kernel, _ = self.weight.shape
        self.kwargs = {
            "in_channels": in_channels,
            "out_channels": out_channels,
            "batch_size": batch_size,
            "input_height": size,
            "input_width": size,
            "kernel_size": (kernel, kernel),
            "stride": (stride, stride),
            "padding": (kernel // 2, kernel // 2),
            "dilation": (1, 1),
            "groups": 1,
            "device": device,
            "conv_config": ttnn.Conv2dConfig(
                weights_dtype=ttnn.bfloat16,
                shard_layout=ttnn.TensorMemoryLayout.BLOCK_SHARDED,
                reshard_if_not_optimal=False,
            ),
        }
        self.compute_config = ttnn.init_device_compute_kernel_config(
            device.arch(), math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=True, fp32_dest_acc_en=True
        )

    def __call__(self, x):
        if not ttnn.is_tensor_storage_on_device(self.weight):
            conv_options = {"input_memory_config": x.memory_config(), "input_layout": x.get_layout(), **self.kwargs}
            self.weight = ttnn.prepare_conv_weights(
                weight_tensor=self.weight,
                weights_format="OIHW",
                has_bias=True,
                input_dtype=ttnn.bfloat16,
                **conv_options,
            )
            self.bias = ttnn.prepare_conv_bias(bias_tensor=self.bias, input_dtype=ttnn.bfloat16, **conv_options)
        return ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.weight,
            bias_tensor=self.bias,
            **self.kwargs,
            compute_config=self.compute_config,
            dtype=ttnn.bfloat16,
        )


class GroupNorm:
    def __init__(self, config, parameters, batch_size, eps):
        self.parameters, self.batch_size = parameters, batch_size
        self.arguments = {"num_groups": config.groups, "epsilon": eps, "core_grid": ttnn.CoreGrid(y=1, x=1)}

    def __call__(self, x):
        *_, pixels, channels = x.shape
        x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.reshape(x, (self.batch_size, 1, pixels // self.batch_size, channels))
        x = ttnn.group_norm(
            x,
            input_mask=self.parameters.input_mask,
            weight=self.parameters.weight,
            bias=self.parameters.bias,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
            **self.arguments,
        )
        x = ttnn.reshape(x, (1, 1, pixels, channels))
        return ttnn.to_layout(x, ttnn.TILE_LAYOUT)


class Resnet:
    def __init__(self, config, parameters, device, batch_size):
        self.batch_size, self.parameters = batch_size, parameters
        self.norm1 = GroupNorm(config, parameters.norm1, batch_size, 1e-5)
        self.conv1 = Conv(parameters.conv1, device, batch_size, config.size)
        self.norm2 = GroupNorm(config, parameters.norm2, batch_size, 1e-5)
        self.conv2 = Conv(parameters.conv2, device, batch_size, config.size)
        self.conv_shortcut = Conv(parameters.conv_shortcut, device, batch_size, config.size)

    def __call__(self, input_tensor, temb):
        hidden_states = ttnn.silu(self.norm1(input_tensor))
        hidden_states = self.conv1(hidden_states)
        temb = ttnn.linear(
            ttnn.silu(temb), self.parameters.time_emb_proj.weight, bias=self.parameters.time_emb_proj.bias
        )
        hidden_states = ttnn.bcast(hidden_states, temb, ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.H)
        hidden_states = ttnn.silu(self.norm2(hidden_states))
        hidden_states = self.conv2(hidden_states)
        return ttnn.add(hidden_states, self.conv_shortcut(input_tensor))


class Attention:
    def __init__(self, config, parameters):
        self.config, self.parameters = config, parameters

    def __call__(self, hidden_states, encoder_hidden_states=None):
        heads = {
            "num_heads": self.config.heads, "num_kv_heads": self.config.heads, "transpose_k_heads": False,
            "memory_config": ttnn.DRAM_MEMORY_CONFIG,
        }  # fmt: skip
        if encoder_hidden_states is None:
            fused = ttnn.linear(hidden_states, self.parameters.qkv)
            query, key, value = ttnn.experimental.nlp_create_qkv_heads(fused, **heads)
        else:
            query = ttnn.linear(hidden_states, self.parameters.q)
            fused = ttnn.linear(encoder_hidden_states, self.parameters.kv)
            query, key, value = ttnn.experimental.create_qkv_heads_from_separate_tensors(query, fused, **heads)
        attended = ttnn.transformer.scaled_dot_product_attention(
            query, key, value, is_causal=False, scale=1 / math.sqrt(self.config.head)
        )
        attended = ttnn.experimental.nlp_concat_heads(attended)
        return ttnn.linear(attended, self.parameters.out, bias=self.parameters.out_bias)


class TransformerBlock:
    def __init__(self, config, parameters):
        self.parameters = parameters
        self.attn1, self.attn2 = Attention(config, parameters.attn1), Attention(config, parameters.attn2)

    def norm(self, hidden_states, parameters):
        return ttnn.layer_norm(hidden_states, epsilon=1e-5, weight=parameters.weight, bias=parameters.bias)

    def __call__(self, hidden_states, encoder_hidden_states):
        attended = self.attn1(self.norm(hidden_states, self.parameters.norm1))
        hidden_states = ttnn.add(attended, hidden_states)
        attended = self.attn2(self.norm(hidden_states, self.parameters.norm2), encoder_hidden_states)
        hidden_states = ttnn.add(attended, hidden_states)
        grown = self.norm(hidden_states, self.parameters.norm3)
        grown = ttnn.linear(grown, self.parameters.geglu.weight, bias=self.parameters.geglu.bias)
        grown = ttnn.geglu(grown, -1)
        grown = ttnn.linear(grown, self.parameters.ff.weight, bias=self.parameters.ff.bias)
        return ttnn.add(grown, hidden_states)


class Transformer:
    def __init__(self, config, parameters, device, batch_size):
        self.batch_size = batch_size
        self.norm = GroupNorm(config, parameters.norm, batch_size, 1e-6)
        self.proj_in = Conv(parameters.proj_in, device, batch_size, config.size)
        self.block = TransformerBlock(config, parameters.block)
        self.proj_out = Conv(parameters.proj_out, device, batch_size, config.size)

    def __call__(self, hidden_states, encoder_hidden_states):
        residual = hidden_states
        *_, pixels, channels = hidden_states.shape
        hidden_states = self.proj_in(self.norm(hidden_states))
        hidden_states = ttnn.reshape(hidden_states, (self.batch_size, 1, pixels // self.batch_size, channels))
        hidden_states = self.block(hidden_states, encoder_hidden_states)
        hidden_states = ttnn.reshape(hidden_states, (1, 1, pixels, channels))
        return ttnn.add(self.proj_out(hidden_states), residual)


class UNet:
    def __init__(self, config, parameters, device, batch_size):
        self.config, self.parameters, self.batch_size = config, parameters, batch_size
        shared = (device, batch_size)
        self.down_resnet = Resnet(config, parameters.down_resnet, *shared)
        self.down_attention = Transformer(config, parameters.down_attention, *shared)
        self.downsample = Conv(parameters.downsample, *shared, config.size, 2)
        self.upsample = Conv(parameters.upsample, *shared, config.size)
        self.up_resnet = Resnet(config, parameters.up_resnet, *shared)
        self.up_attention = Transformer(config, parameters.up_attention, *shared)

    def time_embedding(self, sample):
        sample = ttnn.linear(sample, self.parameters.linear_1.weight, bias=self.parameters.linear_1.bias)
        sample = ttnn.silu(sample)
        return ttnn.linear(sample, self.parameters.linear_2.weight, bias=self.parameters.linear_2.bias)

    def upsampled(self, hidden_states):
        half = self.config.size // 2
        hidden_states = ttnn.to_layout(hidden_states, ttnn.ROW_MAJOR_LAYOUT)
        hidden_states = ttnn.reshape(hidden_states, (self.batch_size, half, half, self.config.channels))
        hidden_states = ttnn.upsample(hidden_states, 2)
        hidden_states = ttnn.reshape(hidden_states, (1, 1, self.batch_size * self.config.size**2, self.config.channels))
        return self.upsample(hidden_states)

    def __call__(self, sample, timestep, encoder_hidden_states):
        temb = self.time_embedding(timestep)
        skip = self.down_resnet(sample, temb)
        skip = self.down_attention(skip, encoder_hidden_states)
        hidden_states = self.downsample(skip)
        hidden_states = self.upsampled(hidden_states)
        hidden_states = ttnn.concat([hidden_states, skip], dim=3)
        hidden_states = self.up_resnet(hidden_states, temb)
        return self.up_attention(hidden_states, encoder_hidden_states)


def unet_blocks(network, sample, timestep, encoder_hidden_states):
    return network(sample, timestep, encoder_hidden_states)


def build(config, device, batch=2, compiled=lambda function: function):
    """Functions that run the blocks on `device`, and torch's, on the same latents, time step and text."""
    torch.manual_seed(0)
    model = UNetBlocks(config).eval().requires_grad_(requires_grad=False).to(memory_format=torch.channels_last)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, device=device, custom_preprocessor=custom_preprocessor
    )
    network = UNet(config, parameters, device, batch)
    latents = torch.randn(batch, config.in_channels, config.size, config.size).contiguous(
        memory_format=torch.channels_last
    )
    time = timestep_embedding(500, config.in_channels)
    text = torch.randn(batch, config.tokens, config.context)

    def on_device(tensor):
        return ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    sample = on_device(latents.permute(0, 2, 3, 1).reshape(1, 1, -1, config.in_channels))
    timestep, context = on_device(time.reshape(1, 1, 1, -1)), on_device(text.unsqueeze(1))
    unet_blocks(network, sample, timestep, context)  # the first run prepares the weights
    forward = compiled(unet_blocks)

    def reference():
        return model(latents, time.unsqueeze(0), text).permute(0, 2, 3, 1).reshape(1, 1, -1, config.channels)

    return lambda: forward(network, sample, timestep, context), reference


def main():
    device = ttnn.open_device(device_id=0, l1_small_size=32768)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.999
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
