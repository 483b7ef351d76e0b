"""Caches and activations between devices as block floats, and steps of training that write their operands."""

from __future__ import annotations

import pytest
import torch

from benchmarks.texts.passes_keep_results import after_passes, results_of
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.upstream.rewriting.rewriter import device_module
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms.texts.registry import text_passes

PIPELINE = "ttir-to-ttnn-backend-pipeline"
CACHE, ROWS = "tensor<1x2x32x32xbf16>", "tensor<1x2x3x32xbf16>"
FILLED = f"""func.func @f(%cache: {CACHE}, %rows: {ROWS}) -> {CACHE} {{
  "ttir.fill_cache"(%cache, %rows) <{{batch_offset = 0 : i32}}> : ({CACHE}, {ROWS}) -> ()
  return %cache : {CACHE}
}}"""


@pytest.mark.parametrize("dtype", ["none", "bfp_bf8", "bfp_bf4"])
def test_a_cache_has_the_type_that_the_pipeline_asks_for(dtype):
    (module,) = parse_texts(FILLED, "cache.mlir")
    (wanted,), inputs = results_of(module, None)
    after = after_passes(FILLED, f"{PIPELINE}{{experimental-kv-cache-dtype={dtype}}}")
    printed = print_module(after)
    assert "{ttcore.kv_cache" in printed
    assert printed.count('"ttnn.typecast"') == (dtype != "none")
    (found,), _ = results_of(after, inputs)
    steps = {"none": 0.0, "bfp_bf8": 2.0**-6, "bfp_bf4": 2.0**-2}[dtype]
    off = (found.double() - wanted.double()).abs()
    assert (off <= steps * wanted.double().abs().amax(-1, keepdim=True)).all()
    assert (off > 0).any() == (dtype != "none")


@pytest.mark.parametrize("shape", [(1, 2, 5, 35), (3, 40), (2, 33, 64), (7,)])
@pytest.mark.parametrize("operand", ["T", "F"])
def test_block_floats_of_any_extents_are_read_and_written(shape, operand):
    """Results and arguments in tiles that are not whole: padding stays in memory."""
    extents = "x".join(map(str, shape))
    types = {"T": f"tensor<{extents}x!ttcore.tile<32x32, bfp_bf8>>", "F": f"tensor<{extents}xf32>"}
    packed = f'"ttnn.typecast"(%a) <{{dtype = #ttcore.supportedDataTypes<bfp_bf8>}}> : ({types["F"]}) -> {types["T"]}'
    cast = f'"ttnn.typecast"(%b) <{{dtype = #ttcore.supportedDataTypes<f32>}}> : ({types["T"]}) -> {types["F"]}'
    name, first = ("b", "") if operand == "T" else ("a", f"%b = {packed}")
    source = (
        f"func.func @f(%{name}: {types[operand]}) -> {types['F']} {{ {first}\n%r = {cast}\n return %r : {types['F']} }}"
    )
    (module,) = parse_texts(source, "cast.mlir")
    given = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    (found,) = TextModule(module, PRESETS["cpu"]).program("f")(given)
    assert (found - given).abs().max() <= 2.0**-7 * given.abs().max()


@pytest.mark.parametrize(("users", "offset", "kept"), [(4, 0, 4), (2, 1, 4), (1, 3, 4), (2, 0, 1)])
def test_a_cache_is_updated_by_a_row_of_each_user(users, offset, kept):
    """As tt-mlir says: cache[offset + user, head, index] = input[0, head, user]; of one cache, rows follow."""
    cache, rows, at = f"tensor<{kept}x3x8x16xf32>", f"tensor<1x3x{users}x16xf32>", "tensor<1xi32>"
    source = f"""func.func @f(%c: {cache}, %x: {rows}, %i: {at}) -> {cache} {{
      %r = "ttir.update_cache"(%c, %x, %i) <{{batch_offset = {offset} : i32}}> : ({cache}, {rows}, {at}) -> {cache}
      return %r : {cache} }}"""
    (module,) = parse_texts(source, "update.mlir")
    generator = torch.Generator().manual_seed(0)
    before, given = (torch.randn(*shape, generator=generator) for shape in ((kept, 3, 8, 16), (1, 3, users, 16)))
    expected = before.clone()
    for user in range(users):
        place = (offset + user, slice(None), 5) if kept > 1 else (0, slice(None), 5 + user)
        expected[place] = given[0, :, user]
    (found,) = TextModule(module, PRESETS["cpu"]).program("f")(before, given, torch.tensor([5], dtype=torch.int32))
    assert torch.equal(found, expected)


@pytest.mark.parametrize("dim", [0, 1])
def test_elements_at_negative_indices_are_nan_where_signed_indices_gather_floats(dim):
    source = f"""func.func @f(%x: tensor<6x6xf32>, %i: tensor<4x4xsi32>) -> tensor<4x4xf32> {{
      %r = "ttnn.gather"(%x, %i) <{{dim = {dim} : i32}}> : (tensor<6x6xf32>, tensor<4x4xsi32>) -> tensor<4x4xf32>
      return %r : tensor<4x4xf32> }}"""
    (module,) = parse_texts(source, "gather.mlir")
    generator = torch.Generator().manual_seed(dim)
    x = torch.randn(6, 6, generator=generator)
    index = torch.randint(-2, 6, (4, 4), generator=generator)
    expected = torch.where(index < 0, torch.nan, x.gather(dim, index.clamp(min=0)))
    (found,) = TextModule(module, PRESETS["cpu"]).program("f")(x, index.int())
    assert torch.equal(found.nan_to_num(1e9), expected.nan_to_num(1e9))
    assert found.isnan().any()


def test_what_is_no_argument_is_no_narrow_cache_and_an_unknown_type_is_refused():
    text = FILLED.replace(
        '"ttir.fill_cache"(%cache', f'%c = "ttir.abs"(%cache) : ({CACHE}) -> {CACHE}\n  "ttir.fill_cache"(%c'
    ).replace("return %cache", "return %c")
    printed = print_module(after_passes(text, f"{PIPELINE}{{experimental-kv-cache-dtype=bfp_bf8}}"))
    assert "bfp_bf8>" not in printed.split("func.func")[1]
    with pytest.raises(ArgumentError, match="target-dtype"):
        text_passes(PIPELINE, "experimental-kv-cache-dtype=f8")


def step(names: str, returned: str, before: str = "") -> str:
    count = len(names.split())
    tensor = "tensor<4x4xf32>"
    arguments = ", ".join(f"%{name}: {tensor}" for name in names.split())
    operands = ", ".join(f"%{name}" for name in names.split())
    results = ", ".join([tensor] * (count - 1))
    rates = "lr = 0.01 : f32, beta1 = 0.9 : f32, beta2 = 0.99 : f32, beta1_pow = 0.9 : f32, beta2_pow = 0.99 : f32"
    types = ", ".join([tensor] * len(returned.split(",")))
    return f"""func.func @f({arguments}) -> ({types}) {{
      {before}
      %0:{count - 1} = "ttir.adamw"({operands}) <{{{rates}, epsilon = 0.1 : f32, weight_decay = 0.1 : f32}}>
        : ({", ".join([tensor] * count)}) -> ({results})
      return {returned} : {types}
    }}"""


ABS = '%old = "ttir.abs"(%p) : (tensor<4x4xf32>) -> tensor<4x4xf32>'


@pytest.mark.parametrize(
    ("names", "returned", "before"),
    [
        ("p g m v", "%0#0, %0#1, %0#2", ""),
        ("p g m v w", "%0#3, %0#0, %0#2, %0#1", ""),
        ("p g m v", "%0#0, %old", ABS),
    ],
)
def test_a_step_of_training_writes_its_operands_as_ttnn(names, returned, before):
    text = step(names, returned, before)
    (module,) = parse_texts(text, "step.mlir")
    drawn = [torch.rand(4, 4) for _ in names.split()]
    wanted, _ = results_of(module, drawn)
    after = after_passes(text, f"{PIPELINE}{{ir-version=2026-08}}")
    assert '"ttnn.adamw"(%arg0, %arg1, %arg2, %arg3' in print_module(after)
    found, _ = results_of(after, [each.clone() for each in drawn])
    for one, other in zip(wanted, found, strict=True):
        torch.testing.assert_close(other, one, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("view", ["abs", "reshape"])
def test_what_is_read_behind_the_step_is_not_written_in_place(view):
    stated = " <{shape = [4 : i32, 4 : i32]}>" if view == "reshape" else ""
    read = f'%old = "ttir.{view}"(%p){stated} : (tensor<4x4xf32>) -> tensor<4x4xf32>'
    text = step("p g m v", "%0#0, %late").replace("return", f"{read.replace('%old', '%late')}\n      return")
    with pytest.raises(CompileError, match="other readers"):
        after_passes(text, f"{PIPELINE}{{ir-version=2026-08}}")


LAYOUT = (
    "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
    "memref<1x{}x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>"
)


def projected(ending: str) -> str:
    """A product on each of two devices, whose sums meet before a residual."""
    a, w = (f"tensor<32x32xbf16, {LAYOUT.format(1)}>" for _ in range(2))
    return f"""module {{
      func.func @f(%x: {a}, %w: {w}, %r: {a}) -> {a} {{
        %0 = "ttnn.matmul"(%x, %w) <{{transpose_a = false, transpose_b = false}}> : ({a}, {w}) -> {a}
        %1 = "ttnn.all_reduce"(%0) <{{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}}> : ({a}) -> {a}
        %2 = {ending} : ({a}, {a}) -> {a}
        return %2 : {a}
      }}
    }}"""


@pytest.mark.parametrize(("ending", "narrow"), [('"ttnn.add"(%1, %r)', True), ('"ttnn.multiply"(%1, %r)', False)])
def test_products_before_collectives_and_a_residual_are_block_floats(ending, narrow):
    text = projected(ending)
    after = after_passes(text, "ttnn-ccl-activation-dtype-lowering{ir-version=2026-08}")
    lines = print_module(after).splitlines()
    typed = {name: next(line for line in lines if f'"ttnn.{name}"' in line) for name in ("matmul", "all_reduce")}
    assert all(("-> tensor<32x32x!ttcore.tile<32x32, bfp_bf8>" in line) is narrow for line in typed.values())
    inputs = [torch.randn(32, 32).bfloat16() for _ in range(3)]
    wanted, found = (
        TextModule(module, PRESETS["cpu"], (1, 2)).program("f")(*inputs)[0].double()
        for module in (device_module(parse_texts(text, "text.mlir")[0]), after)
    )
    assert (wanted - found).abs().max() <= 2.0**-5 * wanted.abs().max()
    assert torch.equal(wanted, found) is not narrow
