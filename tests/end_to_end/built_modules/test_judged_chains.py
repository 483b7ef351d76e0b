"""A result of several operations is judged by the bounds of all of them, element by element."""

import pytest
import torch

import ttnn_jit
from tests.end_to_end.built_modules.test_builders import goldens_of, one_function

ttnn_jit.register_as_ttnn()

from builder.base.builder_apis import (  # noqa: E402 - found where `register_as_ttnn` was called
    compile_ttir_to_flatbuffer,
    execute_fb,
    load_mlir_file,
)
from ttmlir import passes  # noqa: E402


def inner_tanh(x, builder):
    return builder.tanh(x)


CHAINS = {
    "elementwise": (lambda x, y, b: b.exp(b.neg(b.add(x, y))), torch.float32),
    "reduction": (lambda x, y, b: b.softmax(b.matmul(x, y), 1), torch.float32),
    "narrow": (lambda x, y, b: b.multiply(b.sigmoid(x), b.relu(y)), torch.bfloat16),
    "call": (lambda x, y, b: b.multiply(b.call(inner_tanh, [b.neg(x)]), y), torch.float32),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_result_of_several_operations_is_judged_by_the_bounds_of_all(name):
    body, dtype = CHAINS[name]
    _, program, goldens, _ = compile_ttir_to_flatbuffer(one_function(body, (32, 32), (32, 32), dtypes=[dtype] * 2))
    report, _ = execute_fb(program, goldens)
    assert report["program_0"]["output_0"][0]["result"] == "pass"
    right = goldens[0]["output_0"].shard_at(0)
    judged = goldens[0]["output_0"].source
    assert judged.verdict(0, right).matches
    off = {torch.float32: 2**-10, torch.bfloat16: 2**-5}[dtype]
    for wrong in (right * (1 + off), right + off * right.double().abs().mean(), right.roll(1, 0)):
        assert not judged.verdict(0, wrong.to(dtype)).matches
    broken = right.clone()
    broken[3, 5] = torch.nan
    assert "NaN in the result alone, the first at [3, 5]" in judged.verdict(0, broken).reason


def test_where_a_comparison_in_a_chain_is_close_either_outcome_is_right():
    x = torch.tensor([[1.0, 1.0, 2.0, 3.0]])
    y = torch.tensor([[1.0, 1.0 + 2**-23, 2.5, 1.0]])

    def body(a, b, builder):
        builder.set_goldens({a: x, b: y})
        return builder.gt(builder.exp(a), builder.exp(b))

    _, goldens = goldens_of(one_function(body, (1, 4), (1, 4)))
    golden = goldens["output_0"]
    right = golden.shard_at(0)
    close, wrong = right.clone(), right.clone()
    close[0, :2] = 1 - close[0, :2]
    wrong[0, 3] = 1 - wrong[0, 3]
    assert golden.source.verdict(0, close).matches
    assert not golden.source.verdict(0, wrong).matches


def test_an_intermediate_result_is_judged_by_the_bounds_of_what_computes_it():
    fn = one_function(lambda x, b: b.exp(b.neg(b.exp(x, loc="a"), loc="b"), loc="c"), (8, 8))
    _, program, goldens, inner = compile_ttir_to_flatbuffer(fn)
    report, _ = execute_fb(program, goldens, inner, enable_intermediate_verification=True)
    assert all(report["program_0"][f'loc("{name}")'][0]["result"] == "pass" for name in "abc")
    slightly = inner['loc("b")'].apply_shardwise(lambda x: x * (1 + 2**-16))
    slightly.source = inner['loc("b")'].source
    assert not slightly.source.verdict(0, slightly.shard_at(0)).matches


def test_results_of_a_function_that_a_loaded_module_calls_have_no_bounds_of_their_own():
    text = """
      func.func private @inner(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
        %0 = "ttir.neg"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %1 = "ttir.exp"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        return %1 : tensor<4x8xf32>
      }
      func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
        %0 = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %1 = "ttir.sqrt"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        %2 = call @inner(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
        return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
      }"""
    module, builder = load_mlir_file(text)
    goldens = builder.golden_map[0][0]
    assert goldens["output_0"].source is not None
    assert goldens["output_1"].source is None
    report, _ = execute_fb(passes.ttnn_to_flatbuffer_bin(module), {0: goldens})
    assert all(report["program_0"][name][0]["result"] == "pass" for name in ("output_0", "output_1"))
