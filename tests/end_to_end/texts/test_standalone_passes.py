"""Passes over texts that no pipeline runs: generated forms keep their results, bit for bit."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.texts.passes_keep_results import after_passes, results_of
from tests.end_to_end.texts.test_fused_forms import Text
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.movement_steps import steps_of_permutation
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.transforms.texts.registry import text_passes

few = settings(max_examples=6, deadline=None)


def kept(text: str, passes: str) -> str:
    """The text after a pass, whose results are those before, bit for bit."""
    (module,) = parse_texts(text, "text.mlir")
    wanted, inputs = results_of(module, None)
    after = after_passes(text, passes)
    printed = print_module(after)
    found, _ = results_of(after, inputs)
    for one, other in zip(wanted, found, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one.nan_to_num(7.0), other.nan_to_num(7.0)), passes
    return printed


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_steps_of_a_permutation_are_it_and_each_swaps_the_last_two_or_leaves_the_last(rank):
    for order in itertools.permutations(range(rank)):
        steps = steps_of_permutation(order)
        inner = [*range(rank - 2), rank - 1, rank - 2]
        assert len(steps) <= 3
        assert all(step == inner or step[-1] == rank - 1 for step in steps)
        dims = [*range(rank)]
        for step in steps:
            dims = [dims[each] for each in step]
        assert dims == [*order] or (not steps and (order[-1] == rank - 1 or [*order] == inner))


shapes = st.lists(st.sampled_from([1, 1, 2, 3]), min_size=1, max_size=4).map(tuple)


def reshape(text: Text, source: str, shape: tuple[int, ...]) -> str:
    return text.value("reshape", [source], shape, f"shape = [{', '.join(f'{each} : i32' for each in shape)}]")


@settings(max_examples=20, deadline=None)
@given(source=shapes, ones=st.lists(st.integers(0, 4), max_size=4), joined=st.booleans())
def test_reshapes_in_steps_move_no_element(source, ones, joined):
    target = [math.prod(source)] if joined else [extent for extent in source if extent != 1]
    for place in ones:
        target.insert(min(place, len(target)), 1)
    text = Text()
    made = reshape(text, text.argument(*source), tuple(target or [1]))
    kept(text.of(made), "ttir-decompose-complex-reshape")


def test_a_reshape_that_no_swap_helps_is_not_transposed():
    text = Text()
    text_of = text.of(reshape(text, text.argument(2, 3), (2, 3, 1, 1)))
    assert "permutation = array<i64: 0, 2, 1>" in kept(text_of, "ttir-decompose-complex-reshape")


@few
@given(
    shape=st.sampled_from([(2, 3), (4,), (2, 1, 3)]),
    op=st.sampled_from(["add", "subtract", "pow", "div", "ge", "atan2"]),
    constant=st.sampled_from(["splat", "listed", "reshaped", "broadcast"]),
    first=st.booleans(),
)
def test_reshapes_move_to_constants(shape, op, constant, first):
    text, wide = Text(), (1, *shape[:1], 1, *shape[1:])
    moved = reshape(text, text.value("abs", [text.argument(*shape)], shape), wide)
    if constant == "broadcast":
        small = text.value("constant", [], (1,) * len(wide), f"value = dense<2.5> : {text.type_of((1,) * len(wide))}")
        listed = ", ".join(map(str, wide))
        held = text.value("broadcast", [small], wide, f"broadcast_dimensions = array<i64: {listed}>")
    else:
        own = shape if constant == "reshaped" else wide
        numbers = torch.arange(1.0, 1 + math.prod(own)).reshape(own).tolist() if constant == "listed" else 1.0
        held = text.value("constant", [], own, f"value = dense<{numbers}> : {text.type_of(own)}")
        held = reshape(text, held, wide) if constant == "reshaped" else held
    found = text.value(op, [moved, held] if first else [held, moved], wide)
    printed = kept(text.of(found), "ttir-move-reshape-to-constant")
    lines = [line for line in printed.splitlines() if f'"ttir.{op}"' in line]
    assert text.type_of(shape) in lines[0]


def test_a_reshape_of_two_readers_stays():
    text = Text()
    moved = reshape(text, text.argument(2, 3), (1, 2, 3))
    held = text.value("constant", [], (1, 2, 3), f"value = dense<2.0> : {text.type_of((1, 2, 3))}")
    results = [text.value(op, [moved, held], (1, 2, 3)) for op in ("add", "multiply")]
    assert '"ttir.reshape"(%arg0)' in kept(text.of(*results), "ttir-move-reshape-to-constant")


@few
@given(
    number=st.sampled_from([0.0, -0.0, 1.0, 0.1, 3.5]),
    element=st.sampled_from(["f32", "bf16", "si32"]),
    reader=st.sampled_from(["add", "exp"]),
)
def test_movements_of_one_number_are_constants(number, element, reader):
    text = Text(element)
    spelled = number if element != "si32" else int(number)
    small = text.value("constant", [], (), f"value = dense<{spelled}> : tensor<{element}>")
    wide = text.value("broadcast", [reshape(text, small, (1, 1))], (2, 3), "broadcast_dimensions = array<i64: 2, 3>")
    long = reshape(text, wide, (6,))
    other = text.argument(6)
    found = text.value("add", [other, long], (6,)) if reader == "add" else text.value("abs", [long], (6,))
    printed = kept(text.of(found, long), "ttir-fold-constant-reshape-broadcast")
    assert '"ttir.broadcast"' not in printed


@few
@given(
    kind=st.sampled_from(["full", "zeros", "ones"]),
    other=st.sampled_from([(2, 3), (1, 3), (3,), (1,)]),
    returned=st.booleans(),
)
def test_tensors_of_one_number_hold_one_element(kind, other, returned):
    text = Text()
    stated = "shape = array<i32: 2, 3>" + (", fill_value = 1.5 : f32" if kind == "full" else "")
    held = text.value(kind, [], (2, 3), stated)
    results = [text.value("add", [text.argument(*other), held], (2, 3)), text.value("exp", [held], (2, 3))]
    printed = kept(text.of(*results, *([held] if returned else [])), "ttir-fold-full-to-scalar")
    assert ("shape = array<i32: 1, 1>" in printed) is not returned


@few
@given(
    compared=st.sampled_from(["eq", "gt", "le"]),
    logic=st.sampled_from(["logical_and", "logical_xor"]),
    element=st.sampled_from(["f32", "bf16", "si32"]),
    mixed=st.booleans(),
)
def test_truths_are_booleans_and_their_readers_read_numbers(compared, logic, element, mixed):
    text = Text(element)
    x, y = text.argument(3, 4), text.argument(1, 4)
    truth = text.value(compared, [x, y], (3, 4))
    moved = text.value("permute", [truth], (4, 3), "permutation = array<i64: 1, 0>")
    both = text.value(logic, [moved, moved], (4, 3))
    joined = text.value("concat", [truth, x if mixed else truth], (6, 4), "dim = 0 : si32")
    results = [text.value("add", [truth, x], (3, 4)), both, joined]
    printed = kept(text.of(*results), "ttir-cpu-boolean-narrowing")
    assert f'"ttir.{compared}"' in printed
    assert "tensor<3x4xi1>" in printed
    assert ("tensor<6x4xi1>" in printed) is not mixed


# --- TTNN -------------------------------------------------------------------------------------------------------------

PIPELINE = "ttir-to-ttnn-backend-pipeline"


def product(inner: int = 4, element: str = "bf16") -> str:
    text = Text(element)
    a, b = text.argument(2, inner), text.argument(inner, 3)
    made = text.value("matmul", [a, b], (2, 3))
    return print_module(
        after_passes(text.of(text.value("sum", [made], (2,), "keep_dim = false, dim_arg = [1 : i32]")), PIPELINE)
    )


@pytest.mark.parametrize(
    ("options", "config"),
    [
        ("", "math_fidelity = hifi4, fp32_dest_acc_en = true"),
        ("math-fidelity=undefined fp32-dest-acc-en=unset", ""),
        ("math-fidelity=lofi fp32-dest-acc-en=false", "math_fidelity = lofi, fp32_dest_acc_en = false"),
        (
            "math-fidelity=hifi2 math-approx-mode=true packer-l1-acc=false dst-full-sync-en=true",
            "math_fidelity = hifi2, math_approx_mode = true, fp32_dest_acc_en = true, packer_l1_acc = false, "
            "dst_full_sync_en = true",
        ),
    ],
)
def test_operations_get_the_config_of_the_options_where_they_state_none(options, config):
    (first, *_) = text_passes("ttnn-set-compute-kernel-config", options, ir_version="2026-08")
    assert first.math_fidelity
    printed = kept(product(), f"ttnn-set-compute-kernel-config{{{options} ir-version=2026-08}}")
    assert printed.count(f"#ttnn.device_compute_kernel_config<{config}>" if config else "compute_config") == (
        2 if config else 0
    )
    again = "ttnn-set-compute-kernel-config{math-fidelity=hifi3 ir-version=2026-08}"
    assert ("math_fidelity = hifi3" in kept(printed, again)) is (not config)


@pytest.mark.parametrize("inner", [50_000, 50_001])
def test_long_products_of_bf16_add_in_f32(inner):
    options = "math-fidelity=undefined fp32-dest-acc-en=false ir-version=2026-08"
    printed = print_module(after_passes(product(inner), f"ttnn-set-compute-kernel-config{{{options}}}"))
    assert ("<fp32_dest_acc_en = true, packer_l1_acc = true>" in printed) is (inner > 50_000)


@pytest.mark.parametrize("option", ["math-fidelity=hifi5", "packer-l1-acc=maybe"])
def test_an_unknown_value_of_a_config_is_refused(option):
    with pytest.raises(ArgumentError, match=r"hifi5|maybe"):
        text_passes("ttnn-set-compute-kernel-config", option)


def test_parameters_and_constants_are_not_freed():
    kinds = ("input", "parameter", "constant")
    types = ", ".join(
        f"%a{index}: tensor<4x4xf32> {{ttcore.argument_type = #ttcore.argument_type<{kind}>}}"
        for index, kind in enumerate(kinds)
    )
    text = f"""func.func @f({types}) -> tensor<4x4xf32> {{
      %0 = "ttir.add"(%a0, %a1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = "ttir.add"(%0, %a2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %1 : tensor<4x4xf32>
    }}"""
    freed = print_module(after_passes(text, f"{PIPELINE}{{enable-const-eval=false}}"))
    count = freed.count('"ttnn.deallocate"')
    assert kept(freed, "ttnn-adjust-deallocs").count('"ttnn.deallocate"') == count - 2


def test_of_values_in_one_buffer_the_last_is_freed_by_force():
    text = Text("bf16")
    first = text.value("add", [text.argument(64, 32)] * 2, (64, 32))
    view = reshape(text, first, (1, 64, 32))
    last = text.value("exp", [view], (1, 64, 32))
    turned = text.value("permute", [last], (1, 32, 64), "permutation = array<i64: 0, 2, 1>")
    freed = print_module(after_passes(text.of(turned), f"{PIPELINE}{{enable-erase-inverse-ops-pass=false}}"))
    printed = kept(freed, "ttnn-force-final-deallocs")
    assert freed.count("force = false") == printed.count("force = false") + 2
    assert printed.count("force = true") == 1
