"""Methods of builders for custom calls and for mixtures of experts, and what they say of misspelled names."""

from collections import OrderedDict
from pathlib import Path

import pytest
import torch

import ttnn_jit

ttnn_jit.register_as_ttnn()

from builder.base.builder_apis import (  # noqa: E402 - found where `register_as_ttnn` was called
    build_module,
    compile_and_execute_shlo,
    compile_and_execute_ttir,
    compile_and_execute_ttnn,
)
from builder.base.builder_enums import MeshShardDirection, MeshShardType  # noqa: E402

ROWS = OrderedDict([("x", 1), ("y", 2)])


def latent(with_value, with_mask, causal, scale):
    shapes = [(1, 4, 32, 64), (1, 2, 32, 64)]
    shapes += [(1, 2, 32, 16)] * with_value + [(1, 1, 32, 32)] * with_mask

    def module(builder):
        @builder.func(shapes, [torch.bfloat16] * len(shapes))
        def model(*arguments):
            query, key, *others, builder = arguments
            value = others.pop(0) if with_value else None
            mask = others.pop(0) if with_mask else None
            return builder.flash_mla_prefill(
                query, key, head_dim_v=16, value=value, attention_mask=mask, is_causal=causal, scale=scale
            )

    return module


@pytest.mark.parametrize("resolution", ["force-promote", "inline"])
@pytest.mark.parametrize(
    ("with_value", "with_mask", "causal", "scale"),
    [(False, False, True, None), (True, False, True, 0.25), (False, True, False, None), (True, True, False, 0.1)],
)
def test_latent_attention_becomes_the_operation_of_ttnn_or_its_parts(
    tmp_path, with_value, with_mask, causal, scale, resolution
):
    path = compile_and_execute_shlo(
        latent(with_value, with_mask, causal, scale),
        output_root=str(tmp_path),
        save_artifacts=True,
        ttir_pipeline_options=[f"composite-resolution={resolution}"],
    )
    text = Path(path).read_text()
    assert ('"ttnn.flash_mla_prefill"' in text) == (resolution == "force-promote")
    assert "ttcore.composite" not in text


def test_scores_of_an_indexer_become_the_operation_of_ttnn(tmp_path):
    def module(builder):
        @builder.func([(1, 4, 32, 64), (1, 1, 96, 64), (1, 4, 32, 1)], [torch.bfloat16] * 3)
        def model(query, key, weights, builder):
            return builder.indexer_score_dsa(query, key, weights, chunk_start_idx=40)

    path = compile_and_execute_shlo(
        module,
        output_root=str(tmp_path),
        save_artifacts=True,
        ttir_pipeline_options=["composite-resolution=force-promote"],
    )
    assert '"ttnn.indexer_score_dsa"' in Path(path).read_text()


def test_tokens_travel_to_experts_and_back_through_a_builder():
    def module(builder):
        @builder.func([(2, 1, 4, 8), (2, 1, 4, 2), (1, 1, 4, 2), (2, 2, 4, 8)], [torch.bfloat16] * 4)
        def model(tokens, chosen, mapping, results, builder):
            owner = torch.tensor([0, 1, 1, 0])
            given = {
                chosen: torch.randint(0, 4, (2, 1, 4, 2)).bfloat16(),
                mapping: torch.nn.functional.one_hot(owner, 2)[None, None].bfloat16(),
            }
            builder.set_goldens(given)
            cut = {"shard_direction": MeshShardDirection.FullToShard, "shard_dims": [-1, 0]}
            own, experts = (
                builder.mesh_shard(each, shard_type=MeshShardType.Devices, shard_shape=[2, 1, 1, 1], **cut)
                for each in (tokens, chosen)
            )
            _, metadata = builder.all_to_all_dispatch(
                own, experts, mapping, num_devices=2, cluster_axis=1,
                dispatched_shape=(1, 2, 4, 8), dispatched_type=torch.bfloat16,
                metadata_shape=(1, 2, 4, 2), metadata_type=torch.bfloat16,
            )  # fmt: skip
            return builder.all_to_all_combine(
                results, metadata, mapping, num_devices=2, cluster_axis=1, num_experts_per_tok=2,
                output_shard_dim=1, output_shape=(2, 1, 4, 8), output_type=torch.bfloat16,
            )  # fmt: skip

    compile_and_execute_ttir(module, mesh_dict=ROWS)


@pytest.mark.parametrize("has_bias", [False, True])
def test_experts_have_their_weights_prepared(tmp_path, has_bias):
    shapes = [(2, 4, 32), (1, 4, 2), (1, 4, 2), (2, 4), (1, 2, 32, 32), (1, 2, 32, 32), (1, 2, 32, 32)]
    shapes += [(1, 2, 32)] * 3 * has_bias
    dtypes = [torch.bfloat16, torch.int32, torch.bfloat16, torch.int32, *[torch.bfloat16] * 6][: len(shapes)]

    def module(builder):
        @builder.func(shapes, dtypes)
        def model(*arguments):
            tokens, indices, scores, mapping, *weights, builder = arguments
            owner = torch.tensor([0, 0, 1, 1]).int()
            chosen = torch.stack([torch.randperm(4)[:2] for _ in range(4)])[None].int()
            builder.set_goldens({mapping: owner.repeat(2, 1), indices: chosen})
            own = builder.mesh_shard(
                tokens, shard_type=MeshShardType.Devices, shard_direction=MeshShardDirection.FullToShard,
                shard_shape=[2, 1, 1], shard_dims=[-1, 0],
            )  # fmt: skip
            biases = dict(zip(("bias_0", "bias_1", "bias_2"), weights[3:], strict=False))
            return builder.moe_compute(
                own, indices, scores, mapping, *weights[:3], layer_id=0, output_height_shard_dim=4,
                intermediate_size=32, cluster_axis=1, output_shape=(2, 2, 32), output_type=torch.bfloat16,
                activation_function="swiglu", **biases,
            )  # fmt: skip

    path = compile_and_execute_ttir(module, mesh_dict=ROWS, output_root=str(tmp_path), save_artifacts=True)
    assert '"ttnn.prepare_moe_compute_w0_w1_weights"' in Path(path).read_text()


def test_scores_of_own_experts_through_the_builder_of_ttnn():
    def module(builder):
        @builder.func([(1, 1, 32, 8), (1, 1, 8, 1), (1, 1, 32, 4)], [torch.bfloat16, torch.int32, torch.int32])
        def model(scores, mapping, chosen, builder):
            builder.set_goldens(
                {mapping: torch.ones(1, 1, 8, 1).int(), chosen: torch.randint(0, 8, (1, 1, 32, 4)).int()}
            )
            return builder.moe_expert_token_remap(
                scores, mapping, chosen, reduction_size=16, mapping_shape=(1, 1, 32, 8),
                mapping_type=torch.bfloat16, reduced_shape=(1, 1, 2, 8), reduced_type=torch.bfloat16,
            )  # fmt: skip

    compile_and_execute_ttnn(module)


def body_of(call):
    def module(builder):
        @builder.func([(32, 32)], [torch.float32])
        def model(x, builder):
            return call(builder, x)

    return module


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda builder, x: builder.sigmiod(x),
            r"'TTIRBuilder' object has no attribute 'sigmiod'; did you mean `sigmoid`\?",
        ),
        (lambda builder, x: builder.nothing_like_it(x), r"'TTIRBuilder' object has no attribute 'nothing_like_it'$"),
        (lambda builder, x: builder.softmax(x, dimensoin=1), r"'dimensoin'; did you mean `dimension`\?"),
        (lambda builder, x: builder.exp(x, unit_attr=["a"]), r"'unit_attr'; did you mean `unit_attrs`\?"),
        (lambda builder, _: builder.add(), r"missing a required argument: 'lhs'; it takes lhs, rhs"),
    ],
)
def test_misspelled_names_of_a_builder_name_those_that_there_are(call, message):
    with pytest.raises((AttributeError, TypeError), match=message):
        build_module(body_of(call), "ttir")


def test_a_misspelled_option_is_refused_before_anything_is_built():
    with pytest.raises(TypeError, match=r"no option 'check_pc' of compiling and executing; did you mean `check_pcc`\?"):
        compile_and_execute_ttir(body_of(lambda builder, x: builder.exp(x)), check_pc=True)
