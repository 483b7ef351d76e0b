"""Comparison mode: operations against their goldens, one by one and in a chain; uncompared ones are reported."""

from __future__ import annotations

import errno
import json
import os
import warnings
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests import programs
from tests.processes import run_python
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.golden.record_report import Report
from ttnn_jit.testing import comparison_records
from ttnn_jit.ttnn.observing.comparison_mode import ComparisonWarning


@pytest.fixture
def comparing():
    with ttnn.manage_config("enable_comparison_mode", True):
        yield


@pytest.fixture
def raising():
    with ttnn.manage_config("comparison_mode_should_raise_exception", True):
        yield


def tensor(device, data=None, dtype=ttnn.bfloat16):
    data = torch.randn(64, 64) if data is None else data
    return ttnn.from_torch(data, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def read_report(folder):
    return Report.from_jsonl(folder / "comparison.jsonl")


@ttnn_jit.tile_op
def wrong(x):
    return x * 2.0


def wrong_golden(x):
    return torch.sin(3 * x)


def made_wrong():
    """An operation that differs from its golden."""

    def doubled(x):
        return x * 2.0

    return ttnn_jit.tile_op(doubled, golden=wrong_golden)


jitted = ttnn_jit.jit()(programs.cosh)


@pytest.mark.usefixtures("comparing", "raising")
@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize("target", ["wormhole_b0", "cpu"])
def test_operations_are_recorded_locally_and_globally(target, dtype):
    device = ttnn.open_device(device_id=0, target=target)
    x = tensor(device, dtype=dtype)
    with ttnn.manage_config("comparison_mode_pcc", 0.99):
        y = ttnn.softmax(ttnn.matmul(x, ttnn.tanh(x)), -1)
        ttnn.add_(x, y)
        ttnn.split(x, 32, -1)
    records = comparison_records()
    ran = ["ttnn.tanh", "ttnn.matmul", "ttnn.softmax", "ttnn.add_", "ttnn.split"]
    assert [(each.operation, each.mode) for each in records] == [
        (name, mode)
        for name in ran
        for mode in ("isolated", "accumulated")
        for _ in range(2 if name == "ttnn.split" else 1)
    ]
    assert all(each.matches and each.pcc > 0.99 and not each.reason for each in records)
    assert records[0].max_ulp < 2.0
    assert "test_comparison_mode.py" in records[0].location


@pytest.mark.usefixtures("comparing")
def test_the_chain_follows_moves_and_accumulates_errors(device):
    x = tensor(device, dtype=ttnn.float32)
    y = ttnn.typecast(x, ttnn.bfloat16)
    z = ttnn.to_layout(ttnn.to_layout(y, ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ComparisonWarning)
        for _ in range(4):
            z = ttnn.multiply(ttnn.add(z, 1.0), 1.5)
    locally, globally = (
        [each.max_ulp for each in comparison_records() if each.mode == mode] for mode in ("isolated", "accumulated")
    )
    assert max(locally) <= 0.5
    assert globally[-1] > 1.0


@pytest.mark.usefixtures("comparing")
def test_an_incorrect_operation_is_a_warning_or_on_request_an_error(device):
    operation, x = made_wrong(), tensor(device)
    with pytest.warns(
        ComparisonWarning,
        match=r"output 0 is not its golden, (isolated|accumulated): .*, and \S+ is right.*\(correlation 0\.\d+\)",
    ):
        operation(x)
    assert not comparison_records()[0].matches
    with (
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        pytest.raises(
            RuntimeError,
            match=r"test_comparison_mode\.py:\d+:\d+: tile_op\.doubled: output 0 is not .* isolated",
        ),
    ):
        operation(x)
    with ttnn.manage_config("comparison_mode_pcc", -1.0):
        operation(x)


@pytest.mark.usefixtures("comparing", "raising")
def test_a_jitted_function_is_compared_operation_by_operation_and_with_itself(device):
    x = tensor(device)

    @ttnn_jit.jit()
    def program(x, y):
        ttnn.add_(x, y)
        return ttnn.exp(ttnn.neg(x))

    y = tensor(device)
    z = ttnn.sigmoid(program(x, y))
    assert [(each.operation.rpartition(".")[2], each.mode) for each in comparison_records()] == [
        ("add_", "isolated"),
        ("add_", "accumulated"),
        ("neg", "isolated"),
        ("neg", "accumulated"),
        ("exp", "isolated"),
        ("exp", "accumulated"),
        ("program", "whole"),
        ("sigmoid", "isolated"),
        ("sigmoid", "accumulated"),
    ]
    assert comparison_records()[6].max_ulp == 0.0
    assert torch.allclose(ttnn.to_torch(z).float(), torch.sigmoid(torch.exp(-ttnn.to_torch(x).float())), rtol=0.02)


@pytest.mark.usefixtures("comparing")
@pytest.mark.parametrize(
    ("call", "note"),
    [
        (lambda x: wrong(x), "was made without a golden"),
        (ttnn_jit.tile_op(lambda x: x * 1.0, golden=lambda _: None), "1 tensors of results, 0 of its golden"),
        (lambda x: jitted(ttnn.begin_trace_capture(x.device()) and x), "captured in a trace"),
    ],
)
def test_operations_that_are_not_compared_are_warned_of_and_recorded(device, call, note):
    x = tensor(device)
    with pytest.warns(ComparisonWarning, match=rf"was not compared: .*{note}"):
        call(x)
    assert note in comparison_records()[-1].reason


@ttnn_jit.jit()
def shifted_exp(x):
    return ttnn.exp(ttnn.add(x, 1.0))


@pytest.mark.usefixtures("comparing")
def test_every_shard_of_a_mesh_is_compared_but_for_exchanges():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    data = torch.randn(32, 64)
    x = ttnn.from_torch(
        data, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, -1)
    )
    y = shifted_exp(ttnn.neg(x))
    with pytest.warns(ComparisonWarning, match="the devices of a mesh exchange data in it"):
        ttnn.all_gather(y, -1)
    records = comparison_records()
    assert [(each.operation.rpartition(".")[2], each.mode, each.device) for each in records] == [
        *(("neg", mode, device) for device in range(2) for mode in ("isolated", "accumulated")),
        *(
            (name, mode, device)
            for name in ("add", "exp")
            for device in range(2)
            for mode in ("isolated", "accumulated")
        ),
        *(("shifted_exp", "whole", device) for device in range(2)),
        ("all_gather", "isolated", None),
    ]
    assert all(each.matches for each in records[:-1])
    assert {each.target for each in records[:-1]} == {"wormhole_b0 rules on cpu"}


@pytest.mark.usefixtures("comparing")
def test_functions_of_one_name_and_body_keep_their_own_goldens(device):
    right, wrong = (
        ttnn_jit.tile_op(lambda x: x * 5.0, golden=golden) for golden in (lambda x: x * 5.0, lambda x: torch.sin(9 * x))
    )
    x = tensor(device)
    right(x)
    with pytest.warns(ComparisonWarning):
        wrong(x)
    assert [record.matches for record in comparison_records()] == [True, True, False, False]


@pytest.mark.usefixtures("comparing")
def test_positions_of_nan_are_counted(device):
    x = tensor(device, torch.tensor([[1.0, -1.0, 4.0, float("nan")]]), ttnn.float32)
    ttnn.sqrt(x)
    assert comparison_records()[0].differing_nans == 0
    assert comparison_records()[0].matches


@pytest.mark.usefixtures("comparing")
def test_the_first_nan_that_the_golden_lacks_is_reported_with_its_index(cpu_device):
    zeroed = ttnn_jit.tile_op(lambda x: x * 2.0, golden=lambda x: torch.nan_to_num(x * 2.0))
    x = torch.ones(2, 3, 40)
    x[1, 2, 7:9] = float("nan")
    with pytest.warns(
        ComparisonWarning, match=r"2 of 240 elements are NaN in the result alone, the first at \[1, 2, 7"
    ):
        zeroed(tensor(cpu_device, x, ttnn.float32))
    found = comparison_records()[-1]
    assert (found.pcc, found.matches) == (1.0, False)
    assert (found.differing_nans, found.first_nan) == (2, (1, 2, 7))


@pytest.mark.usefixtures("comparing")
def test_an_infinity_on_one_side_is_a_mismatch_although_ttnns_correlation_accepts_it(cpu_device):
    x = tensor(cpu_device, torch.ones(2, 40), ttnn.float32)
    infinite = ttnn_jit.tile_op(lambda x: x * 1.0, golden=lambda x: torch.full_like(x, torch.inf))
    with pytest.warns(ComparisonWarning, match="1, and inf is right"):
        infinite(x)
    huge = ttnn_jit.tile_op(lambda x: x * 3e38 * 3e38, golden=lambda x: x * 9e76)
    huge(x)
    assert [record.matches for record in comparison_records() if record.mode == "isolated"] == [False, True]


def test_the_report_has_the_first_bad_operation_on_top(device, tmp_path):
    operation = made_wrong()
    with (
        ttnn.manage_config("root_report_path", tmp_path),
        ttnn.manage_config("report_name", "run"),
        ttnn.manage_config("enable_comparison_mode", True),
        pytest.warns(ComparisonWarning),
    ):
        operation(ttnn.exp(tensor(device)))
    rows = read_report(tmp_path / "run")
    assert [row.operation for row in rows[:3]] == ["ttnn.exp", "ttnn.exp", "tile_op.doubled"]
    page = (tmp_path / "run" / "comparison.html").read_text()
    assert page.index("These differ, the worst first") < page.index("tile_op.doubled") < page.index("ttnn.exp")
    assert "2 of 4 results differ from their goldens" in page
    assert "<th>allclose</th>" in page
    assert "None" not in page


@pytest.mark.usefixtures("comparing")
@pytest.mark.parametrize(
    ("dtype", "off", "allclose"),
    [
        (ttnn.float32, 1e-7, True),
        (ttnn.float32, 1e-4, False),
        (ttnn.bfloat16, 1e-3, True),
        (ttnn.bfloat16, 0.1, False),
        (ttnn.bfloat8_b, 0.0, None),
    ],
)
def test_records_tell_whether_a_tensor_is_close_by_torch_s_tolerances(cpu_device, dtype, off, allclose):
    operation = ttnn_jit.tile_op(lambda x: x * 2.0, golden=lambda x: x * (2.0 + off))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ComparisonWarning)
        operation(tensor(cpu_device, torch.randn(32, 32), dtype))
    assert [record.allclose for record in comparison_records()] == [allclose, allclose]


@pytest.mark.usefixtures("comparing")
def test_integers_are_close_where_they_are_equal(cpu_device):
    x = tensor(cpu_device, torch.arange(32, dtype=torch.int32).reshape(1, 32), ttnn.int32)
    ttnn.add(x, x)
    assert comparison_records()[0].allclose is True


@pytest.mark.filterwarnings("ignore::ttnn_jit.ttnn.observing.comparison_mode.ComparisonWarning")
def test_an_infinite_distance_is_a_string_in_the_report_since_json_has_no_infinity(device, tmp_path):
    operation = ttnn_jit.tile_op(lambda x: x * 2.0, golden=lambda x: x * float("inf"))
    with (
        ttnn.manage_config("root_report_path", tmp_path),
        ttnn.manage_config("report_name", "run"),
        ttnn.manage_config("enable_comparison_mode", True),
    ):
        operation(tensor(device))
    line, *_ = (tmp_path / "run" / "comparison.jsonl").read_text().splitlines()
    assert json.loads(line, parse_constant=pytest.fail)["max_ulp"] == "inf"


def test_a_report_that_cannot_be_written_keeps_the_previous_one(device, tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "comparison.jsonl").write_text("[]")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "disk full")))
    with (
        ttnn.manage_config("root_report_path", tmp_path),
        ttnn.manage_config("report_name", "run"),
        pytest.raises(OSError, match="disk full"),
        ttnn.manage_config("enable_comparison_mode", True),
    ):
        ttnn.exp(tensor(device))
    assert [path.read_text() for path in (tmp_path / "run").glob("*.*") if path.is_file()] == ["[]"]
    assert not ttnn.CONFIG.enable_comparison_mode


def test_a_report_whose_name_is_removed_before_the_mode_ends_is_written(device, tmp_path):
    with (
        ttnn.manage_config("root_report_path", tmp_path),
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("report_name", "run"),
    ):
        ttnn.exp(tensor(device))
    assert len(read_report(tmp_path / "run")) == 2


def test_without_the_mode_nothing_is_compared(device):
    with ttnn.manage_config("enable_comparison_mode", True):
        pass
    ttnn.exp(tensor(device))
    assert comparison_records() == []


SCRIPT = """
import torch, ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.testing import comparison_records

@ttnn_jit.jit()
def program(x):
    return ttnn.exp(x)

program(ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=ttnn.open_device(device_id=0)))
print([each.operation for each in comparison_records()], ttnn.CONFIG.comparison_mode_pcc)
"""


@pytest.mark.process
def test_the_environment_enables_the_mode_from_the_first_call_and_reports_are_written_at_exit(tmp_path):
    settings = {"enable_comparison_mode": True, "comparison_mode_pcc": 0.5, "enable_logging": True}
    reports = {"root_report_path": str(tmp_path), "report_name": "run"}
    environment = {**os.environ, "TTNN_CONFIG_OVERRIDES": json.dumps({**settings, **reports})}
    done = run_python("-c", SCRIPT, env=environment, check=True)
    assert done.stdout == "['ttnn.exp', 'ttnn.exp', '__main__.program'] 0.5\n"
    assert len(read_report(tmp_path / "run")) == 3
    assert "These differ" not in (tmp_path / "run" / "comparison.html").read_text()
    assert (tmp_path / "run" / "db.sqlite").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("[]", "holds no JSON object"),
        ('{"no_such": 1}', "TTNN_CONFIG_OVERRIDES: .*has no setting `no_such`\nhelp: it"),
    ],
)
def test_invalid_overrides_are_refused(monkeypatch, text, message):
    from ttnn_jit.ttnn.observing import session_config

    monkeypatch.setenv("TTNN_CONFIG_OVERRIDES", text)
    with pytest.raises(ArgumentError, match=message):
        session_config._with_overrides(session_config.Config())


def fused(x):
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=(1, 1),
        in0_block_w=1,
        out_subblock_h=1,
        out_subblock_w=1,
        per_core_M=1,
        per_core_N=1,
        transpose_mcast=False,
        fused_activation=(ttnn.UnaryOpType.GELU, True),
    )
    exact = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
    return ttnn.linear(x, x, program_config=config, activation="relu", compute_kernel_config=exact)


LEAKY, CUBE = (
    ttnn.UnaryWithParam(getattr(ttnn.UnaryOpType, name), by) for name, by in (("LEAKY_RELU", 0.3), ("POWER", 3))
)


@pytest.mark.usefixtures("comparing", "raising")
@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda x: ttnn.add(x, x, activations=["relu", "exp"]), lambda x: (x + x).relu().exp()),
        (
            lambda x: ttnn.subtract(
                x, x, input_tensor_a_activations=[ttnn.UnaryOpType.SILU], input_tensor_b_activations=[LEAKY, CUBE]
            ),
            lambda x: torch.nn.functional.silu(x) - torch.nn.functional.leaky_relu(x, 0.3) ** 3,
        ),
        (fused, lambda x: torch.nn.functional.gelu((x @ x).relu())),
        (lambda x: jitted_with_activation(x), lambda x: (x * x).sigmoid()),
    ],
)
def test_the_activations_of_a_call_are_part_of_its_golden(device, call, meant):
    """Figures of the records themselves: without activations the golden is far from the result and from torch's."""
    x = tensor(device)
    given = ttnn.to_torch(x).double()
    assert torch.allclose(ttnn.to_torch(call(x)).double(), meant(given), rtol=0.05, atol=0.05)
    records = comparison_records()
    assert not [record for record in records if record.reason]
    assert min(record.pcc for record in records) > 0.999


@ttnn_jit.jit()
def jitted_with_activation(x):
    return ttnn.multiply(x, x, activations=["sigmoid"])


def test_a_golden_takes_activations_as_ttnn_s_own_goldens_do():
    x = torch.linspace(-3, 3, 7, dtype=torch.float64)
    got = ttnn.get_golden_function(ttnn.add)(x, x, activations=["relu"])
    assert torch.equal(got, (2 * x).relu())


@pytest.mark.usefixtures("comparing", "raising")
def test_a_composed_function_is_compared_inside_and_its_result_continues_the_chain(device):
    """The convolution's result has the shape of its input, but must not inherit its golden."""
    x, weight = tensor(device, torch.randn(1, 1, 64, 32)), ttnn.from_torch(torch.randn(32, 32, 3, 3), ttnn.bfloat16)
    sizes = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_height": 8, "input_width": 8}
    got = ttnn.conv2d(input_tensor=ttnn.relu(x), weight_tensor=weight, device=device, kernel_size=3, padding=1, **sizes)
    ttnn.add(got, x)
    records = comparison_records()
    names = [record.operation for record in records if record.mode == "accumulated"]
    assert (names[0], names[-1]) == ("ttnn.relu", "ttnn.add")
    assert "ttnn.conv2d" in names
    assert min(record.pcc for record in records) > 0.999


@pytest.mark.usefixtures("comparing")
def test_an_in_place_write_that_is_not_compared_begins_a_new_chain(device, monkeypatch):
    x, y = ttnn.relu(tensor(device)), tensor(device)
    monkeypatch.setattr(ttnn.add_, "golden_call", lambda *_: 1 / 0, raising=False)
    with pytest.warns(ComparisonWarning, match="its golden failed"):
        ttnn.add_(x, y)
    ttnn.multiply(x, 2.0)
    assert comparison_records()[-1].mode == "accumulated"
    assert comparison_records()[-1].pcc > 0.999


@pytest.mark.parametrize("name", ["add", "exp", "cumsum", "topk", "mul_"])
def test_a_golden_writes_into_out_as_functions_of_torch_do(name):
    x = torch.linspace(-3, 3, 32).reshape(2, 16)
    arguments = {"add": (x, x), "mul_": (x, x), "cumsum": (x, 1), "topk": (x, 3)}.get(name, (x,))
    golden = ttnn.get_golden_function(getattr(ttnn, name))
    plain = golden(*arguments)
    out = torch.zeros_like(plain) if torch.is_tensor(plain) else tuple(map(torch.zeros_like, plain))
    assert golden(*arguments, out=out) is out
    for got, wanted in zip(
        [out] if torch.is_tensor(out) else out, [plain] if torch.is_tensor(plain) else plain, strict=True
    ):
        assert torch.equal(got, wanted)
    with pytest.raises(ArgumentError, match="`out` has shapes"):
        golden(*arguments, out=torch.zeros(3))
