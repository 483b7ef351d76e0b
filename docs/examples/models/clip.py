# CLIP: an encoder of images, an encoder of texts, and the similarity of each image with each text.
#
#     python -m ttnn_jit docs/examples/models/clip.py

import math
from dataclasses import dataclass

import torch
import ttnn


@dataclass(frozen=True)
class Config:
    image_size: int = 64
    patch_size: int = 32
    vision_width: int = 128
    vision_layers: int = 2
    text_width: int = 64
    text_layers: int = 2
    head: int = 32
    context: int = 16
    vocab_size: int = 100
    projection: int = 64


SMALL = Config()
FULL = Config(224, 32, 768, 12, 512, 12, 64, 77, 49408, 512)


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.layer_norm1, self.layer_norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, torch.nn.Linear(width, width))
        self.fc1, self.fc2 = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x, mask):
        normalized = self.layer_norm1(x)
        query, key, value = (
            part(normalized).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        attended = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = x + self.out_proj(attended.transpose(1, 2).flatten(2))
        return x + self.fc2(torch.nn.functional.gelu(self.fc1(self.layer_norm2(x))))


class Vision(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        width, patches = config.vision_width, (config.image_size // config.patch_size) ** 2
        self.patch_embedding = torch.nn.Conv2d(3, width, config.patch_size, config.patch_size, bias=False)
        self.class_embedding = torch.nn.Parameter(torch.randn(width))
        self.position_embedding = torch.nn.Parameter(torch.randn(patches + 1, width))
        self.pre_layrnorm, self.post_layernorm = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.layers = torch.nn.ModuleList(Block(width, width // config.head) for _ in range(config.vision_layers))
        self.projection = torch.nn.Linear(width, config.projection, bias=False)

    def forward(self, images):
        x = self.patch_embedding(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_embedding.expand(len(x), 1, -1), x], 1) + self.position_embedding
        x = self.pre_layrnorm(x)
        for layer in self.layers:
            x = layer(x, None)
        return self.projection(self.post_layernorm(x[:, 0]))


class Text(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.text_width
        self.token_embedding = torch.nn.Embedding(config.vocab_size, width)
        self.position_embedding = torch.nn.Parameter(torch.randn(config.context, width))
        self.layers = torch.nn.ModuleList(Block(width, width // config.head) for _ in range(config.text_layers))
        self.final_layer_norm = torch.nn.LayerNorm(width)
        self.projection = torch.nn.Linear(width, config.projection, bias=False)
        self.register_buffer("mask", torch.full((config.context, config.context), -math.inf).triu(1))

    def forward(self, tokens):
        x = self.token_embedding(tokens) + self.position_embedding
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.projection(self.final_layer_norm(x[:, -1]))


class Clip(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.vision, self.text = Vision(config), Text(config)
        self.logit_scale = 10.0

    def forward(self, images, tokens):
        of_images, of_texts = self.vision(images), self.text(tokens)
        of_images = of_images / of_images.norm(dim=-1, keepdim=True)
        of_texts = of_texts / of_texts.norm(dim=-1, keepdim=True)
        return self.logit_scale * of_images @ of_texts.T


class MultiHeadAttention:
    def __init__(self, state_dict, num_heads, attention_mask, prefix):
        self.attention_mask = attention_mask
        self.num_heads = num_heads
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, f"{part}_weight", state_dict[f"{prefix}.{part}.weight"])
            setattr(self, f"{part}_bias", state_dict[f"{prefix}.{part}.bias"])

    def forward(self, hidden_states):
        sequence_size, batch_size, hidden_size = hidden_states.shape
        head_size = hidden_size // self.num_heads
        scale = 1.0 / math.sqrt(head_size)

        q = ttnn.linear(hidden_states, self.q_proj_weight, bias=self.q_proj_bias, transpose_b=True)
        k = ttnn.linear(hidden_states, self.k_proj_weight, bias=self.k_proj_bias, transpose_b=True)
        v = ttnn.linear(hidden_states, self.v_proj_weight, bias=self.v_proj_bias, transpose_b=True)

        q = ttnn.reshape(q, (sequence_size, batch_size * self.num_heads, head_size))
        k = ttnn.reshape(k, (sequence_size, batch_size * self.num_heads, head_size))
        v = ttnn.reshape(v, (sequence_size, batch_size * self.num_heads, head_size))
        q = ttnn.transpose(q, 0, 1)
        k = ttnn.transpose(k, 0, 1)
        v = ttnn.transpose(v, 0, 1)

        scores = ttnn.matmul(q, ttnn.transpose(k, -2, -1))
        scores = scores * scale
        if self.attention_mask is not None:
            scores = scores + self.attention_mask
        attn_weights = ttnn.softmax(scores, dim=-1, numeric_stable=True)

        attn_output = ttnn.matmul(attn_weights, v)
        attn_output = ttnn.transpose(attn_output, 0, 1)
        attn_output = ttnn.reshape(attn_output, (sequence_size, batch_size, hidden_size))
        return ttnn.linear(attn_output, self.out_proj_weight, bias=self.out_proj_bias, transpose_b=True)


class ResidualAttentionBlock:
    def __init__(self, state_dict, num_heads, attention_mask, prefix):
        self.attention = MultiHeadAttention(state_dict, num_heads, attention_mask, prefix)
        for part in ("layer_norm1", "layer_norm2", "fc1", "fc2"):
            setattr(self, f"{part}_weight", state_dict[f"{prefix}.{part}.weight"])
            setattr(self, f"{part}_bias", state_dict[f"{prefix}.{part}.bias"])

    def forward(self, x):
        residual = x
        x = ttnn.layer_norm(x, weight=self.layer_norm1_weight, bias=self.layer_norm1_bias, epsilon=1e-5)
        x = residual + self.attention.forward(x)
        normalized = ttnn.layer_norm(x, weight=self.layer_norm2_weight, bias=self.layer_norm2_bias, epsilon=1e-5)
        grown = ttnn.linear(normalized, self.fc1_weight, bias=self.fc1_bias, transpose_b=True)
        grown = ttnn.gelu(grown)
        return x + ttnn.linear(grown, self.fc2_weight, bias=self.fc2_bias, transpose_b=True)


class Transformer:
    def __init__(self, state_dict, num_layers, num_heads, attention_mask, prefix):
        self.layers = [
            ResidualAttentionBlock(state_dict, num_heads, attention_mask, f"{prefix}.layers.{i}")
            for i in range(num_layers)
        ]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


class VisionTransformer:
    def __init__(self, config, state_dict, device):
        self.config, self.device = config, device
        self.state_dict = state_dict
        self.conv1_weights = ttnn.from_device(state_dict["vision.patch_embedding.weight"])
        self.conv1_weights = ttnn.to_dtype(self.conv1_weights, dtype=ttnn.bfloat16)
        self.conv1_weights = ttnn.to_layout(self.conv1_weights, layout=ttnn.ROW_MAJOR_LAYOUT)
        self.conv1_weights = ttnn.prepare_conv_weights(
            weight_tensor=self.conv1_weights,
            input_memory_config=ttnn.DRAM_MEMORY_CONFIG,
            input_layout=ttnn.ROW_MAJOR_LAYOUT,
            weights_format="OIHW",
            in_channels=3,
            out_channels=config.vision_width,
            batch_size=1,
            input_height=config.image_size,
            input_width=config.image_size,
            kernel_size=[config.patch_size, config.patch_size],
            stride=[config.patch_size, config.patch_size],
            padding=[0, 0],
            dilation=[1, 1],
            has_bias=False,
            groups=1,
            device=device,
            input_dtype=ttnn.bfloat16,
        )
        self.conv1_weights = ttnn.to_device(self.conv1_weights, device)
        heads = config.vision_width // config.head
        self.transformer = Transformer(state_dict, config.vision_layers, heads, None, "vision")

    def forward(self, x):
        (batch_size, in_channels, height, width) = x.shape
        patch, hidden = self.config.patch_size, self.config.vision_width

        x = ttnn.permute(x, [0, 2, 3, 1])
        x = ttnn.to_layout(x, layout=ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.conv1_weights,
            in_channels=in_channels,
            out_channels=hidden,
            batch_size=batch_size,
            input_height=height,
            input_width=width,
            kernel_size=(patch, patch),
            stride=(patch, patch),
            padding=(0, 0),
            dilation=(1, 1),
            groups=1,
            device=self.device,
            return_weights_and_bias=False,
            return_output_dim=False,
        )
        x = ttnn.to_layout(x, layout=ttnn.TILE_LAYOUT)
        x = ttnn.reshape(x, (batch_size, x.shape[2] // batch_size, hidden))

        class_embedding = ttnn.reshape(self.state_dict["vision.class_embedding"], (1, 1, hidden))
        class_embedding = ttnn.repeat(class_embedding, (batch_size, 1, 1))
        x = ttnn.concat([class_embedding, x], dim=1)
        x = x + self.state_dict["vision.position_embedding"]
        x = ttnn.layer_norm(
            x,
            weight=self.state_dict["vision.pre_layrnorm.weight"],
            bias=self.state_dict["vision.pre_layrnorm.bias"],
            epsilon=1e-5,
        )
        x = ttnn.permute(x, (1, 0, 2))
        x = self.transformer.forward(x)
        x = ttnn.permute(x, (1, 0, 2))
        x = ttnn.layer_norm(
            x[:, 0, :],
            weight=self.state_dict["vision.post_layernorm.weight"],
            bias=self.state_dict["vision.post_layernorm.bias"],
            epsilon=1e-5,
        )
        return ttnn.matmul(x, self.state_dict["vision.projection.weight"], transpose_b=True)


class TextTransformer:
    def __init__(self, config, state_dict, device):
        self.state_dict = state_dict
        self.last = config.context - 1
        mask = ttnn.from_torch(
            torch.full((config.context, config.context), -math.inf).triu(1),
            dtype=ttnn.bfloat16,
            layout=ttnn.TILE_LAYOUT,
            device=device,
        )
        self.table = ttnn.to_layout(state_dict["text.token_embedding.weight"], ttnn.ROW_MAJOR_LAYOUT)
        heads = config.text_width // config.head
        self.transformer = Transformer(state_dict, config.text_layers, heads, mask, "text")

    def forward(self, tokens):
        x = ttnn.embedding(tokens, self.table, layout=ttnn.TILE_LAYOUT)
        x = x + self.state_dict["text.position_embedding"]
        x = ttnn.permute(x, (1, 0, 2))
        x = self.transformer.forward(x)
        x = ttnn.permute(x, (1, 0, 2))
        x = ttnn.layer_norm(
            x[:, self.last, :],
            weight=self.state_dict["text.final_layer_norm.weight"],
            bias=self.state_dict["text.final_layer_norm.bias"],
            epsilon=1e-5,
        )
        return ttnn.matmul(x, self.state_dict["text.projection.weight"], transpose_b=True)


class CLIP:
    def __init__(self, config, state_dict, device, logit_scale):
        self.visual = VisionTransformer(config, state_dict, device)
        self.text = TextTransformer(config, state_dict, device)
        self.logit_scale = logit_scale

    def forward(self, image, tokens):
        image_features = self.visual.forward(image)
        text_features = self.text.forward(tokens)
        image_norm = ttnn.sqrt(ttnn.sum(ttnn.square(image_features), dim=-1, keepdim=True))
        image_features = ttnn.divide(image_features, image_norm)
        text_norm = ttnn.sqrt(ttnn.sum(ttnn.square(text_features), dim=-1, keepdim=True))
        text_features = ttnn.divide(text_features, text_norm)
        return ttnn.matmul(image_features * self.logit_scale, ttnn.transpose(text_features, 0, 1))


def convert_model_to_ttnn(state_dict, device):
    converted = {}
    for key, value in state_dict.items():
        converted[key] = ttnn.from_torch(value, layout=ttnn.TILE_LAYOUT, device=device)
        converted[key] = ttnn.typecast(converted[key], dtype=ttnn.bfloat16)
    return converted


def build(config, device, images=3, texts=4, compiled=lambda function: function):
    """Functions that compare images and texts on `device`, and in torch."""
    torch.manual_seed(0)
    model = Clip(config).eval().requires_grad_(requires_grad=False)
    state_dict = convert_model_to_ttnn(model.state_dict(), device)
    clip = CLIP(config, state_dict, device, model.logit_scale)
    pixels = torch.randn(images, 3, config.image_size, config.image_size)
    ids = torch.randint(config.vocab_size, (texts, config.context))
    image = ttnn.from_torch(pixels, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    tokens = ttnn.from_torch(ids, dtype=ttnn.uint32, device=device)
    forward = compiled(CLIP.forward)
    return lambda: forward(clip, image, tokens), lambda: model(pixels, ids)


def main():
    device = ttnn.open_device(device_id=0, l1_small_size=8192)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.99
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
