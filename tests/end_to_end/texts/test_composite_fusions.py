"""`ttir-fusing` makes composite operations of their parts, with the results of these; near misses stay as they are."""

from __future__ import annotations

import pytest
import torch

from benchmarks.texts.passes_keep_results import after_passes, disagreement, results_of
from ttnn_jit.dialects import print_module
from ttnn_jit.frontend.ir.texts import parse_texts

T = "tensor<4x32xf32>"


def function(body: str, *, arguments: str = f"%x: {T}", result: str = T) -> str:
    return f"func.func @f({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"


def full(name: str, number: float, type_: str = T) -> str:
    shape = ", ".join(type_.removeprefix("tensor<").split("x")[:-1])
    return f'  %{name} = "ttir.full"() <{{shape = array<i32: {shape}>, fill_value = {number} : f32}}> : () -> {type_}\n'


def gelu(root: float = 0.70710678, last: str = "%x") -> str:
    return function(
        full("half", 0.5)
        + full("root", root)
        + full("one", 1.0)
        + f'  %1 = "ttir.multiply"(%x, %root) : ({T}, {T}) -> {T}\n  %2 = "ttir.erf"(%1) : ({T}) -> {T}\n'
        f'  %3 = "ttir.add"(%one, %2) : ({T}, {T}) -> {T}\n  %4 = "ttir.multiply"(%half, %3) : ({T}, {T}) -> {T}\n'
        f'  %r = "ttir.multiply"({last}, %4) : ({T}, {T}) -> {T}'
    )


def mish(limit: float = 20.0) -> str:
    return function(
        full("limit", limit)
        + f'  %big = "ttir.gt"(%x, %limit) : ({T}, {T}) -> tensor<4x32xi1>\n  %1 = "ttir.exp"(%x) : ({T}) -> {T}\n'
        f'  %2 = "ttir.log1p"(%1) : ({T}) -> {T}\n'
        f'  %3 = "ttir.where"(%big, %x, %2) : (tensor<4x32xi1>, {T}, {T}) -> {T}\n'
        f'  %4 = "ttir.tanh"(%3) : ({T}) -> {T}\n  %r = "ttir.multiply"(%x, %4) : ({T}, {T}) -> {T}'
    )


def heads(order: str = "0, 2, 1, 3") -> str:
    return function(
        f'  %1 = "ttir.permute"(%x) <{{permutation = array<i64: {order}>}}> : (tensor<2x3x3x8xf32>)'
        " -> tensor<2x3x3x8xf32>\n"
        '  %r = "ttir.reshape"(%1) <{shape = [6 : i32, 24 : i32]}> : (tensor<2x3x3x8xf32>) -> tensor<6x24xf32>',
        arguments="%x: tensor<2x3x3x8xf32>",
        result="tensor<6x24xf32>",
    )


def attention(dimension: int = 3, keys: int = 4, users: int = 2) -> str:
    query, key, scores = "tensor<2x4x8x16xf32>", f"tensor<{users}x{keys}x32x16xf32>", "tensor<2x4x8x32xf32>"
    return function(
        full("by", 0.25, scores)
        + f'  %1 = "ttir.matmul"(%q, %k) <{{transpose_b = true}}> : ({query}, {key}) -> {scores}\n'
        f'  %2 = "ttir.multiply"(%1, %by) : ({scores}, {scores}) -> {scores}\n'
        f'  %3 = "ttir.add"(%2, %m) : ({scores}, tensor<2x1x8x32xf32>) -> {scores}\n'
        f'  %4 = "ttir.softmax"(%3) <{{dimension = {dimension} : si32}}> : ({scores}) -> {scores}\n'
        f'  %r = "ttir.matmul"(%4, %v) : ({scores}, {key}) -> {query}',
        arguments=f"%q: {query}, %k: {key}, %v: {key}, %m: tensor<2x1x8x32xf32>",
        result=query,
    )


def fused(text: str) -> str:
    """The text behind the pass, after its results were compared with those before."""
    (module,) = parse_texts(text, "model.mlir")
    wanted, inputs = results_of(module, None)
    after = after_passes(text, "ttir-fusing")
    found, _ = results_of(after, inputs)
    assert not disagreement(wanted, found)
    return print_module(after)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (gelu(), "gelu"),
        (mish(), "mish"),
        (heads(), "concatenate_heads"),
        (attention(), "scaled_dot_product_attention"),
        (attention(keys=1), "scaled_dot_product_attention"),
    ],
    ids=["gelu", "mish", "heads", "attention", "shared-key"],
)
def test_parts_become_a_composite_operation_with_their_results(text, name):
    assert f'"ttir.{name}"' in fused(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (gelu(root=0.7), "gelu"),
        (gelu(last="%1"), "gelu"),
        (mish(limit=2.0), "mish"),
        (heads("1, 0, 2, 3").replace("tensor<2x3x3x8", "tensor<3x3x2x8"), "concatenate_heads"),
        (attention(dimension=2), "scaled_dot_product_attention"),
        (attention(users=1), "scaled_dot_product_attention"),
    ],
    ids=["number", "factor", "threshold", "order", "dimension", "users"],
)
def test_near_misses_are_not_fused(text, name):
    assert f'"ttir.{name}"' not in fused(text)


SORTED = """
func.func @f(%x: tensor<3x8xf32>) -> (tensor<3x5xf32>, tensor<3x5xsi32>) {{
  %values, %indices = "ttir.sort"(%x) <{{descending = {descending}, dim = -1 : si32, stable = false}}>
      : (tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xsi32>)
  %0 = "ttir.slice_static"(%values) <{{{slice}}}> : (tensor<3x8xf32>) -> tensor<3x5xf32>
  %1 = "ttir.slice_static"(%indices) <{{{slice}}}> : (tensor<3x8xsi32>) -> tensor<3x5xsi32>
  return %0, %1 : tensor<3x5xf32>, tensor<3x5xsi32>
}}
"""
FIRST = "begins = [0 : i32, 0 : i32], ends = [3 : i32, 5 : i32], step = [1 : i32, 1 : i32]"
LAST = "begins = [0 : i32, 3 : i32], ends = [3 : i32, 8 : i32], step = [1 : i32, 1 : i32]"


@pytest.mark.parametrize("descending", ["true", "false"])
@pytest.mark.parametrize("part", [FIRST, LAST], ids=["first", "last"])
def test_the_first_elements_of_a_sort_are_those_of_topk(descending, part):
    text = SORTED.format(descending=descending, slice=part)
    (module,) = parse_texts(text, "model.mlir")
    wanted, inputs = results_of(module, None)
    after = after_passes(text, "ttir-fusing{ir-version=2026-08}")
    found, _ = results_of(after, inputs)
    assert all(map(torch.equal, wanted, found))
    assert ("ttir.topk" in print_module(after)) == (part is FIRST)
