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
from builder.base.builder_runtime import TTBuilderCompileException  # noqa: E402
from ttmlir.ir import DictAttr, StringAttr  # noqa: E402

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


@pytest.mark.parametrize("by_name", [False, True])
def test_a_composite_has_the_results_and_goldens_of_its_function(by_name):
    def module(builder):
        @builder.func([(4, 8), (4, 8)], [torch.float32] * 2)
        def parts(x, y, builder):
            return builder.add(x, y), builder.exp(y)

        parts.sym_visibility = StringAttr.get("private")
        builder._nested_funcs.append(parts.name.value)

        @builder.func([(4, 8), (4, 8)], [torch.float32] * 2)
        def main(x, y, builder):
            given = "@parts" if by_name else parts
            attributes = DictAttr.get({"n": StringAttr.get("1")})
            total, power = builder.composite("own.parts", [x, y], given, composite_attributes=attributes)
            wanted = [each.shard_at(0) for each in map(builder._get_golden_tensor, (x, y, total, power))]
            assert torch.equal(wanted[2], wanted[0] + wanted[1])
            torch.testing.assert_close(wanted[3], wanted[1].exp())
            return builder.mul(total, power)

    text = str(build_module(module, "stablehlo")[0])
    assert 'composite "own.parts" %arg0, %arg1' in text
    assert 'composite_attributes = {n = "1"}, decomposition = @parts' in text
    compile_and_execute_shlo(module)


def test_a_composite_of_no_function_says_what_is_spelled_alike():
    def module(builder):
        @builder.func([(4, 8)], [torch.float32])
        def negated(x, builder):
            return builder.neg(x)

        @builder.func([(4, 8)], [torch.float32])
        def main(x, builder):
            return builder.composite("own.neg", [x], "negatd")

    with pytest.raises(TTBuilderCompileException, match=r"no function @negatd; did you mean `negated`"):
        compile_and_execute_shlo(module)


ROWS_OF_A_TABLE = {
    "ttir.embedding": lambda b, i, w, _: b.embedding(i, w),
    "ttir.embedding_backward": lambda b, i, w, g: b.embedding_backward(i, w, g),
    "ttir.where": lambda b, _i, w, _g: b.where(b.typecast(b.gt(w, w), output_type=torch.int32), w, w),
}


@pytest.mark.parametrize("operation", ROWS_OF_A_TABLE)
def test_a_result_has_the_element_type_of_the_table_and_not_of_its_indices(operation):
    def module(builder):
        @builder.func([(2, 3), (8, 4), (2, 3, 4)], [torch.int32, torch.bfloat16, torch.bfloat16])
        def main(indices, table, gradient, builder):
            first = torch.randint(0, 8, (2, 3), dtype=torch.int32)
            builder.set_goldens({indices: first})
            return ROWS_OF_A_TABLE[operation](builder, indices, table, gradient)

    made, _ = build_module(module, "ttir")
    line = next(each for each in str(made).splitlines() if f'"{operation}"' in each)
    assert line.endswith("xbf16>")
    compile_and_execute_ttir(module)


def test_goldens_follow_inputs_that_are_set_behind_the_operations():
    given = torch.full((4, 8), 3.0)

    def module(builder):
        @builder.func([(4, 8), (4, 8)], [torch.float32] * 2)
        def main(x, y, builder):
            squared = builder.multiply(x, x)
            kept = builder.exp(y)
            builder.set_goldens({kept: torch.ones})
            total = builder.add(squared, y)
            builder.set_goldens({x: given})
            golden = builder._get_golden_tensor
            assert torch.equal(golden(total).shard_at(0), 9.0 + golden(y).shard_at(0))
            assert torch.equal(golden(kept).shard_at(0), torch.ones(4, 8))
            return total

    compile_and_execute_ttir(module, check_atol=True, atol=1e-5)


@pytest.mark.parametrize("dimension", [0, 1])
def test_an_extent_of_stablehlo_is_a_scalar(dimension):
    def module(builder):
        @builder.func([(4, 8)], [torch.float32])
        def main(x, builder):
            found = builder.get_dimension_size(x, dimension)
            assert builder._get_golden_tensor(found).shard_at(0).item() == (4, 8)[dimension]
            return found

    assert "-> tensor<i32>" in str(build_module(module, "stablehlo")[0])
    compile_and_execute_shlo(module)
