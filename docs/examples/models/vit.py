# ViT, an image classifier, block sharded in L1 with a program config for every product.
#
#     python -m ttnn_jit docs/examples/models/vit.py

from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import preprocess_linear_bias, preprocess_linear_weight, preprocess_model_parameters


@dataclass(frozen=True)
class Config:
    image_size: int = 64
    patch_size: int = 16
    hidden_size: int = 128
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    intermediate_size: int = 512
    num_labels: int = 40
    layer_norm_eps: float = 1e-12

    @property
    def patches(self):
        return (self.image_size // self.patch_size) ** 2


SMALL = Config()
FULL = Config(224, 16, 768, 12, 12, 3072, 1000)

TILE = 32


class SelfAttention(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.query = torch.nn.Linear(config.hidden_size, config.hidden_size)
        self.key = torch.nn.Linear(config.hidden_size, config.hidden_size)
        self.value = torch.nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return attended.transpose(1, 2).flatten(2)


class Layer(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden = config.hidden_size
        self.layernorm_before = torch.nn.LayerNorm(hidden, eps=config.layer_norm_eps)
        self.attention = SelfAttention(config)
        self.attention_output = torch.nn.Linear(hidden, hidden)
        self.layernorm_after = torch.nn.LayerNorm(hidden, eps=config.layer_norm_eps)
        self.intermediate = torch.nn.Linear(hidden, config.intermediate_size)
        self.output = torch.nn.Linear(config.intermediate_size, hidden)

    def forward(self, x):
        x = x + self.attention_output(self.attention(self.layernorm_before(x)))
        return x + self.output(torch.nn.functional.gelu(self.intermediate(self.layernorm_after(x))))


class Vit(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden = config.hidden_size
        self.cls_token = torch.nn.Parameter(torch.randn(1, 1, hidden))
        self.position_embeddings = torch.nn.Parameter(torch.randn(1, config.patches + 1, hidden))
        self.projection = torch.nn.Conv2d(3, hidden, config.patch_size, config.patch_size)
        self.layer = torch.nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.layernorm = torch.nn.LayerNorm(hidden, eps=config.layer_norm_eps)
        self.classifier = torch.nn.Linear(hidden, config.num_labels)

    def forward(self, pixels):
        patches = self.projection(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(pixels), -1, -1), patches], 1) + self.position_embeddings
        for layer in self.layer:
            x = layer(x)
        return self.classifier(self.layernorm(x))


def custom_preprocessor(model, name):
    parameters = {}
    if isinstance(model, Vit):
        weight = torch.nn.functional.pad(model.projection.weight, (0, 0, 0, 0, 0, 1))
        weight = torch.permute(weight, (2, 3, 1, 0)).reshape(-1, weight.shape[0])
        parameters["projection"] = {
            "weight": preprocess_linear_weight(weight.T, dtype=ttnn.bfloat8_b),
            "bias": preprocess_linear_bias(model.projection.bias, dtype=ttnn.bfloat8_b),
        }
        for part in ("layer", "layernorm", "classifier"):
            parameters[part] = preprocess_model_parameters(
                initialize_model=lambda part=part: getattr(model, part), custom_preprocessor=custom_preprocessor
            )
    if isinstance(model, SelfAttention):
        parts = (model.query, model.key, model.value)
        parameters["query_key_value"] = {
            "weight": preprocess_linear_weight(torch.cat([part.weight for part in parts]), dtype=ttnn.bfloat8_b),
            "bias": preprocess_linear_bias(torch.cat([part.bias for part in parts]), dtype=ttnn.bfloat8_b),
        }
    if isinstance(model, torch.nn.Linear):
        parameters["weight"] = preprocess_linear_weight(model.weight, dtype=ttnn.bfloat8_b)
        parameters["bias"] = preprocess_linear_bias(model.bias, dtype=ttnn.bfloat8_b)
    return parameters


class ProgramConfigs:
    def __init__(self, config, batch):
        self.grid = ttnn.CoreGrid(y=batch, x=config.num_attention_heads // 2)
        rows = -(-(config.patches + 1) // TILE)
        across = config.hidden_size // TILE // self.grid.x
        blocks = config.num_attention_heads * rows // self.grid.x
        head = config.hidden_size // TILE // config.num_attention_heads
        size = (self.grid.x, self.grid.y)

        def product(block, width, activation=None):
            return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
                compute_with_storage_grid_size=size,
                in0_block_w=block,
                out_subblock_h=1,
                out_subblock_w=min(width, 4) if width % min(width, 4) == 0 else 1,
                per_core_M=rows,
                per_core_N=width,
                transpose_mcast=False,
                fused_activation=activation,
            )

        def batched(block, width):
            return ttnn.MatmulMultiCoreReuseProgramConfig(
                compute_with_storage_grid_size=size,
                in0_block_w=block,
                out_subblock_h=1,
                out_subblock_w=width,
                per_core_M=blocks,
                per_core_N=width,
            )

        self.layernorm = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=size, subblock_w=across, block_h=rows, block_w=across, inplace=False
        )
        self.query_key_value = product(across, 3 * across)
        self.query_by_key = batched(head, rows)
        self.softmax = ttnn.SoftmaxShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=size, subblock_w=rows, block_h=blocks, block_w=rows
        )
        self.probabilities_by_value = batched(rows, head)
        self.self_output = product(across, across)
        grown = config.intermediate_size // TILE // self.grid.x
        self.ff1 = product(across, grown, (ttnn.UnaryOpType.GELU, True))
        self.ff2 = product(grown, across)
        self.sharded = ttnn.create_sharded_memory_config(
            [batch, rows * TILE, config.hidden_size],
            core_grid=self.grid,
            strategy=ttnn.ShardStrategy.BLOCK,
            orientation=ttnn.ShardOrientation.ROW_MAJOR,
        )


def vit_embeddings(config, programs, pixel_values, cls_token, position_embeddings, *, parameters):
    batch_size = pixel_values.shape[0]
    folded = ttnn.fold(pixel_values, config.patch_size, 1)
    folded = ttnn.to_memory_config(folded, memory_config=ttnn.L1_MEMORY_CONFIG)
    folded = ttnn.to_layout(folded, layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)
    patches = ttnn.linear(
        folded,
        parameters.projection.weight,
        bias=parameters.projection.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=programs.grid,
    )
    patches = ttnn.to_layout(patches, layout=ttnn.ROW_MAJOR_LAYOUT)
    patches = ttnn.reshape(patches, (batch_size, config.patches, config.hidden_size))

    embedded = ttnn.concat([cls_token, patches], -2, memory_config=ttnn.L1_MEMORY_CONFIG)
    embedded = ttnn.to_layout(embedded, layout=ttnn.TILE_LAYOUT)
    return ttnn.add(embedded, position_embeddings, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat8_b)


def vit_attention(config, programs, hidden_states, *, parameters):
    num_heads = config.num_attention_heads
    *_, hidden_size = hidden_states.shape
    head_size = hidden_size // num_heads

    query_key_value = ttnn.linear(
        hidden_states,
        parameters.attention.query_key_value.weight,
        bias=parameters.attention.query_key_value.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=programs.query_key_value,
    )
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(
        query_key_value, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, num_heads=num_heads
    )
    ttnn.deallocate(query_key_value)
    ttnn.deallocate(hidden_states)

    attention_scores = ttnn.matmul(
        query,
        key,
        memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=programs.query_by_key,
    )
    ttnn.deallocate(query)
    ttnn.deallocate(key)
    attention_scores = ttnn.mul_(attention_scores, 1.0 / (head_size**0.5))
    attention_probs = ttnn.softmax_in_place(attention_scores, program_config=programs.softmax)

    context_layer = ttnn.matmul(
        attention_probs,
        value,
        memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=programs.probabilities_by_value,
    )
    ttnn.deallocate(attention_probs)
    ttnn.deallocate(value)
    context_layer = ttnn.transformer.concatenate_heads(context_layer, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG)
    context_layer = ttnn.to_memory_config(context_layer, ttnn.DRAM_MEMORY_CONFIG)
    context_layer = ttnn.to_memory_config(context_layer, programs.sharded)

    self_output = ttnn.linear(
        context_layer,
        parameters.attention_output.weight,
        bias=parameters.attention_output.bias,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=programs.self_output,
    )
    ttnn.deallocate(context_layer)
    return self_output


def vit_feedforward(programs, hidden_states, residual, *, parameters):
    intermediate = ttnn.linear(
        hidden_states,
        parameters.intermediate.weight,
        bias=parameters.intermediate.bias,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=programs.ff1,
    )
    ttnn.deallocate(hidden_states)
    output = ttnn.linear(
        intermediate,
        parameters.output.weight,
        bias=parameters.output.bias,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        program_config=programs.ff2,
    )
    ttnn.deallocate(intermediate)
    output = ttnn.add(output, residual, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat8_b)
    ttnn.deallocate(residual)
    return output


def vit_layer(config, programs, hidden_states, *, parameters):
    before = ttnn.layer_norm(
        hidden_states,
        weight=parameters.layernorm_before.weight,
        bias=parameters.layernorm_before.bias,
        epsilon=config.layer_norm_eps,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        program_config=programs.layernorm,
    )
    attended = vit_attention(config, programs, before, parameters=parameters)
    attended = ttnn.add(
        attended, hidden_states, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, dtype=ttnn.bfloat8_b
    )
    after = ttnn.layer_norm(
        attended,
        weight=parameters.layernorm_after.weight,
        bias=parameters.layernorm_after.bias,
        epsilon=config.layer_norm_eps,
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        program_config=programs.layernorm,
    )
    return vit_feedforward(programs, after, attended, parameters=parameters)


def vit(config, programs, pixel_values, cls_token, position_embeddings, *, parameters):
    hidden_states = vit_embeddings(
        config, programs, pixel_values, cls_token, position_embeddings, parameters=parameters
    )
    hidden_states = ttnn.to_memory_config(hidden_states, programs.sharded)
    for layer in parameters.layer:
        hidden_states = vit_layer(config, programs, hidden_states, parameters=layer)
    hidden_states = ttnn.to_memory_config(hidden_states, ttnn.L1_MEMORY_CONFIG)
    output = ttnn.layer_norm(
        hidden_states,
        weight=parameters.layernorm.weight,
        bias=parameters.layernorm.bias,
        epsilon=config.layer_norm_eps,
        memory_config=ttnn.L1_MEMORY_CONFIG,
    )
    return ttnn.linear(
        output,
        parameters.classifier.weight,
        bias=parameters.classifier.bias,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        core_grid=programs.grid,
    )


def build(config, device, batch=2, compiled=lambda function: function):
    """Functions that run the model on `device`, and torch's, on the same images."""
    torch.manual_seed(0)
    model = Vit(config).eval().requires_grad_(requires_grad=False)
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, device=device, custom_preprocessor=custom_preprocessor
    )
    pixels = torch.randn(batch, 3, config.image_size, config.image_size)
    by_patch = torch.nn.functional.pad(pixels.permute(0, 2, 3, 1), (0, 1))
    by_patch = by_patch.reshape(batch, config.image_size, config.image_size // config.patch_size, 4 * config.patch_size)
    cls_token = ttnn.from_torch(model.cls_token.expand(batch, -1, -1), dtype=ttnn.bfloat16, device=device)
    positions = ttnn.from_torch(
        model.position_embeddings.expand(batch, -1, -1),
        dtype=ttnn.bfloat8_b,
        layout=ttnn.TILE_LAYOUT,
        device=device,
    )
    programs = ProgramConfigs(config, batch)
    forward = compiled(vit)

    def run():
        pixel_values = ttnn.from_torch(by_patch, dtype=ttnn.bfloat16, device=device)
        logits = forward(config, programs, pixel_values, cls_token, positions, parameters=parameters)
        ttnn.deallocate(pixel_values)
        return logits

    return run, lambda: model(pixels)


def main():
    device = ttnn.open_device(device_id=0)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.99
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
