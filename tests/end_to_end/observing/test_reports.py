"""Counts of `explain`, its table in a notebook, and the content of program descriptors."""

from __future__ import annotations

import dataclasses
import html
import json
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests import programs
from tests.expressions import TENSORS, evaluate, expressions
from ttnn_jit import ttnn
from ttnn_jit.compiler.report import LaunchReport
from ttnn_jit.runtime.plans.descriptor import ProgramDescriptor
from ttnn_jit.specs.target import PRESETS


def on(device, *shape, dtype=torch.bfloat16):
    return ttnn.from_torch(torch.ones(shape, dtype=dtype), layout=ttnn.TILE_LAYOUT, device=device)


def chain(x):
    return ttnn.exp(ttnn.tanh(ttnn.neg(x)))


def tree(x):
    return ttnn.multiply(ttnn.add(ttnn.exp(x), x), 0.5)


@pytest.mark.parametrize(("dtype", "capacity"), [(torch.bfloat16, 8), (torch.float32, 4)])
def test_a_unary_chain_is_initialised_once_for_all_the_tiles_of_dst(device, dtype, capacity):
    (kernel,) = ttnn_jit.jit()(chain).explain(on(device, 1024, 1024, dtype=dtype)).kernels
    assert kernel.dst_capacity == capacity  # half of DST's 16 tiles, and half of that for 32 bits
    assert kernel.init_calls_every_run == 3 * 16  # 1024 tiles on 64 cores
    assert kernel.init_calls == kernel.init_calls_every_run // capacity


def test_a_target_without_double_buffering_uses_all_of_dst():
    whole = dataclasses.replace(PRESETS["wormhole_b0"], dst_double_buffered=False)
    with ttnn.open_device(target=whole) as device:
        (kernel,) = ttnn_jit.jit()(chain).explain(on(device, 1024, 1024)).kernels
    assert kernel.dst_capacity == 16
    assert kernel.init_calls == kernel.init_calls_every_run // 16


def test_a_nest_of_several_ops_is_initialised_for_every_tile(device):
    (kernel,) = ttnn_jit.jit()(tree).explain(on(device, 1024, 1024)).kernels
    assert (kernel.init_calls, kernel.init_calls_every_run) == (3 * 16, 3 * 16)


@pytest.mark.parametrize(("target", "wide"), [("wormhole_b0", 4), ("blackhole", 4), ("cpu", 28)])
def test_the_capacity_is_that_of_the_target(target, wide):
    device = ttnn.open_device(device_id=0, target=target)
    report = ttnn_jit.jit()(tree).explain(on(device, 32, 32, dtype=torch.float32))
    assert {kernel.dst_capacity for kernel in report.kernels} == {wide}
    assert all(kernel.dst_peak <= kernel.dst_capacity for kernel in report.kernels)


def runs_of(text, what):
    """The number of times that lines with `what` run on one core, by the bounds of the loops in the text."""
    total, trips = 0, [1]
    for line in text.splitlines():
        bounds = [int(bound) for bound in re.findall(r"(?:=|to|step) (?:%c)?(\d+)", line)] if ".for " in line else [1]
        if line.endswith("{"):
            trips.append(trips[-1] * len(range(*bounds)))
        elif line.strip() == "}":
            trips.pop()
        elif what in line:
            total += trips[-1]
    return total


@settings(max_examples=20, deadline=None)
@given(expressions(), st.sampled_from([(32, 32), (512, 256), (2048, 1024)]))
def test_init_counts_are_those_of_the_text_that_a_chip_would_run(expression, shape):
    device = ttnn.open_device(device_id=0)
    tensors = [on(device, *shape) for _ in range(TENSORS)]
    jitted = ttnn_jit.jit(enable_cache=False, graph_capture=True)(lambda *tensors: evaluate(expression, tensors))
    report = jitted.explain(*tensors)
    text = jitted.ir(*tensors, stage="convert-d2m-to-ttnn")
    assert sum(kernel.init_calls for kernel in report.kernels) == runs_of(text, '"d2m.tile_init"')
    assert sum(kernel.init_calls_every_run for kernel in report.kernels) == runs_of(text, '= "d2m.tile_')


def test_the_text_of_a_report(device):
    lines = str(ttnn_jit.jit()(chain).explain(on(device, 1024, 1024))).splitlines()
    assert lines[0] == "chain on wormhole_b0: 3 ops in 1 kernel"
    assert lines[2].startswith("            1 input, peak 1 of 8 DST tiles (1 in source order)  ")
    assert lines[3] == "            6 init calls a core (48 with one for every tile)"


def twice_used(x):
    y = ttnn.exp(x)
    return ttnn.add(ttnn.neg(y), ttnn.tanh(y))


@ttnn_jit.tile_op
def counts(x):
    return int(x) + 0.5


def test_a_notebook_shows_a_row_for_each_kernel_and_every_pair_that_was_not_fused(device):
    report = ttnn_jit.jit()(lambda x: counts(twice_used(x))).explain(on(device, 32, 32))
    shown = report._repr_html_()
    assert len(report.kernels) > 1
    assert shown.count("<tr>") == 1 + len(report.kernels)
    for pair in report.not_fused:
        assert html.escape(pair.detail) in shown
    assert html.escape("counts: compiled by numba") in shown
    assert "<lambda>" not in shown
    assert "->" not in shown
    for unit in ("DST peak, tiles", "DST capacity, tiles", "init calls a core"):
        assert f"<th>{unit}</th>" in shown
    assert ttnn_jit.jit()(lambda x: x).explain(on(device, 32, 32))._repr_html_().count("<table>") == 0


def softmaxed(x):
    return ttnn.softmax(x, dim=-1)


def test_a_chips_report_lists_separate_kernels_that_the_host_runs_as_one(device):
    text = str(ttnn_jit.jit()(softmaxed).explain(on(device, 32, 32)))
    joined = [line for line in text.splitlines() if line.endswith("runs both as one")]
    assert joined
    assert all(line.startswith("  not fused: ") for line in joined)


@settings(max_examples=20, deadline=None)
@given(expressions())
def test_on_cpu_every_pair_that_is_reported_as_not_fused_is_in_two_launches(expression):
    tensors = [torch.ones(32, 32) for _ in range(TENSORS)]
    jitted = ttnn_jit.jit(enable_cache=False, graph_capture=True)(
        lambda *xs: ttnn.softmax(evaluate(expression, xs), -1)
    )
    report = jitted.explain(*tensors)
    told = [line for line in str(report).splitlines() if "not fused" in line]
    assert len(told) == sum(pair.launch is None for pair in report.not_fused)
    if len(report.launches) == 1 and not report.host_operations:
        assert not told


def test_a_report_names_the_joins_repeats_and_copies_of_the_host():
    def repeated(x):
        for _ in range(4):
            x = ttnn.add(ttnn.tanh(x), 1.0)
        return ttnn.concat([ttnn.softmax(x, dim=-1), x], dim=1)

    x = torch.zeros(8, 16)
    report = ttnn_jit.jit()(repeated).explain(x)
    assert "kernel 0  (tanh -> add) x 4\n" in str(report)
    of_softmax = next(number for number, launch in enumerate(report.launches) if "divide" in launch.ops)
    assert {pair.launch for pair in report.not_fused if pair.consumer in {"divide", "sum"}} == {of_softmax}
    assert "not fused: sum into divide" not in str(report) + report._repr_html_()  # which one launch runs as one
    assert str(report).index(f"launch {of_softmax}: ") < str(report).index("kernel 0")  # launches run, not kernels
    pieces = [launch.nbytes for launch in report.launches if launch.ops == ("concat",)]
    assert pieces == [2 * 8 * 16 * 4, 2 * 8 * 16 * 4]


# --- Descriptors ----------------------------------------------------------------------------------------------------


def program(device, function=programs.cosh, **options):
    return ttnn_jit.jit(compile_only=True, **options)(function)(on(device, 64, 64))


@pytest.fixture
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_tmp_path")
def test_a_descriptor_lists_a_buffer_for_each_tensor_the_arguments_and_the_text(device):
    compiled = program(device)
    (descriptor,) = compiled.descriptors
    fields = descriptor.to_dict()
    assert fields["cbs"] == [{"access": "stream", "dtype": "bf16", "num_pages": 1, "page_size": 2048}] * 3
    assert fields["common_runtime_args"] == [f"buffer_address {k}" for k in range(3)]
    assert fields["compile_time_args"] == [0, 1, 2]
    assert fields["semaphores"] == []
    assert fields["grid"] == [2, 2]
    assert fields["custom_program_hash"] == compiled.hash
    assert f"@{fields['kernel']}(" in fields["kernel_source"]
    assert '"d2m.tile_exp"' in fields["kernel_source"]
    assert repr(descriptor) == "<ProgramDescriptor cosh_kernel0: 3 circular buffers>"


@pytest.mark.usefixtures("in_tmp_path")
@pytest.mark.parametrize("options", [{}, {"fp32_dest_acc": True}, {"backend": "numba"}, {"max_grid": (0, 0)}], ids=str)
@pytest.mark.parametrize("function", [programs.cosh, chain, twice_used])
def test_a_descriptor_round_trips_through_json(device, function, options):
    compiled = program(device, function, **options)
    for descriptor in compiled.descriptors:
        fields = descriptor.to_dict()
        again = ProgramDescriptor.from_dict(json.loads(json.dumps(fields)))
        assert again == descriptor
        assert again.to_dict() == fields == dict(descriptor)
    loaded = type(compiled).from_bytes(compiled.to_bytes())
    assert loaded.descriptors == compiled.descriptors


@pytest.mark.usefixtures("in_tmp_path")
def test_the_dict_of_a_descriptor_shares_nothing_with_the_program(device):
    (descriptor,) = program(device).descriptors
    fields = descriptor.to_dict()
    fields["cbs"][0]["page_size"] = 0
    fields["grid"].clear()
    assert descriptor["cbs"][0]["page_size"] == 2048
    assert descriptor["grid"] == [2, 2]
    with pytest.raises(TypeError):
        descriptor["grid"] = [1, 1]


def moved(x):
    return ttnn.concat([ttnn.exp(x), ttnn.exp(ttnn.permute(x, (1, 0)))], dim=0)


def test_a_report_names_reads_through_views_and_launches_beside_kernels(device):
    x = torch.rand(64, 64)
    report = ttnn_jit.jit()(moved).explain(x)
    assert [(kernel.ops, kernel.views) for kernel in report.kernels] == [(("exp",), 0), (("exp",), 1)]
    assert report.host_operations == ("concat",)
    assert "1 input (1 through a view)" in str(report)
    assert "beside kernels: concat" in report._repr_html_()
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    on_chip = ttnn_jit.jit()(moved).explain(tensor)
    assert on_chip.host_operations == ("permute", "concat")
    assert not any(kernel.views for kernel in on_chip.kernels)


def normalised(x):
    exponentials = ttnn.exp(x - ttnn.max(x, dim=-1, keepdim=True))
    return exponentials / ttnn.sum(exponentials, dim=-1, keepdim=True)


@pytest.mark.parametrize(
    ("program", "loops"),
    [
        (lambda x: ttnn.permute(x, (1, 0)), "2 x 3 x 32 whole x 32 whole"),
        (lambda x: ttnn.sort(x), "64 x 96 whole"),
        (lambda x: ttnn.argmax(x, dim=-1), "64 x 96 whole"),
        (lambda x: ttnn.sum(x, dim=-1), "64 x 96 reduced"),
        (lambda x: ttnn.matmul(x, x, transpose_b=True), "64 x 96 reduced x 64"),
    ],
)
def test_a_report_distinguishes_reduced_loops_from_loops_that_are_never_cut(program, loops):
    assert [each.loops for each in ttnn_jit.jit()(program).explain(torch.rand(64, 96)).launches] == [loops]


def test_a_report_and_the_host_stage_show_launches_with_their_loops_and_bytes():
    x = torch.rand(64, 100)
    function = ttnn_jit.jit()(normalised)
    (launch,) = function.explain(x).launches
    ops, schedule = ("max", "subtract", "exp", "sum", "divide"), "3 sweeps over rows, 1 row kept"
    assert launch == LaunchReport(ops, 4, "64 x 100 reduced", 2 * x.nbytes, schedule)
    assert f"({launch.kernels} kernels as one, loops 64 x 100 reduced, 51,200 bytes; {schedule})" in str(
        function.explain(x)
    )
    text = function.ir(x, stage="host")
    assert text.startswith("launch 0: max, subtract, exp, sum, divide, fused from 4 kernels, 51,200 bytes\n")
    assert text.count("sweep over the row") == 3
    assert "keeps  a row of f32" in text
    assert f"  {schedule}\n" in text


def chained(x):
    for _ in range(4):
        x = ttnn.gelu(x)
    return x


@pytest.mark.parametrize(
    ("function", "dtype", "said"),
    [
        (chained, torch.float32, r"cut into \d loops, over blocks of \d+ elements"),
        (ttnn.lgamma, torch.bfloat16, "a table of lgamma"),
        (lambda x: ttnn.matmul(x, x), torch.float32, "operands packed, a microkernel"),
        (lambda x: ttnn.topk(x, 3)[0], torch.float32, "compiled by numba"),
        (lambda x: ttnn.sum(x, 0), torch.float32, "2 sweeps over columns"),
        (ttnn.abs, torch.float32, ""),
    ],
)
def test_a_report_shows_the_final_loops_of_a_launch(function, dtype, said):
    x = torch.rand(512, 512).to(dtype)
    jitted = ttnn_jit.jit()(lambda x: function(x))
    (launch,) = jitted.explain(x).launches
    assert re.fullmatch(said, launch.schedule), launch.schedule
    assert launch.schedule in str(jitted.explain(x))
    assert launch.schedule in jitted.ir(x, stage="host")
    assert jitted.explain(x).launches == jitted.explain(x).launches


def test_numba_runs_the_same_sweeps_over_rows():
    (launch,) = ttnn_jit.jit(backend="numba")(normalised).explain(torch.rand(8, 8)).launches
    assert (launch.kernels, launch.schedule) == (4, "3 sweeps over rows, 1 row kept")
