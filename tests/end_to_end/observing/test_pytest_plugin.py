"""``pytest -p ttnn_jit.pytest_plugin``: test suites for ttnn run unchanged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.processes import run_python
from ttnn_jit.golden.record_report import Report
from ttnn_jit.specs.target import PRESETS

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.process

CONFTEST = """
    import pytest
    import ttnn
    from ttnn.device import is_blackhole

    ARCH = ttnn.get_arch_name()

    def pytest_addoption(parser):
        parser.addoption("--tt-arch", default=ttnn.get_arch_name())
"""
TESTS = """
    import os
    import subprocess
    import sys

    import pytest
    import ttnn
    import ttnn_jit
    from ttnn_jit._src.utils import get_maximal_block_sharding_grid

    @ttnn_jit.jit()
    def double(x):
        return ttnn.add(x, x)

    SEEN = []

    @pytest.mark.parametrize("size", [32, 64, 96, 128])
    def test_double(device, size):
        x = ttnn.ones([size, size], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
        assert double(x).to_list() == [[2.0] * size] * size
        assert device.num_program_cache_entries() == 1
        assert not device.closed and all(earlier.closed for earlier in SEEN)
        SEEN.append(device)

    def test_a_process():
        text = "import ttnn; print(ttnn.__name__)"
        assert subprocess.check_output([sys.executable, "-c", text], text=True) == "ttnn_jit.ttnn\\n"
"""
REPORT = """
    import pytest
    import ttnn

    def test_report(device, pytestconfig):
        print("<", device.target.name, ttnn.get_arch_name(), device.core_grid.x, ttnn.open_device().arch().value, ">")

    @pytest.mark.parametrize("number", range(4))
    def test_again(device, number):
        print("<", device.target.name, ttnn.get_arch_name(), device.core_grid.x, ttnn.open_device().arch().value, ">")
"""


COMPARED = """
    import pytest
    import torch
    import ttnn
    import ttnn_jit

    doubled = ttnn_jit.tile_op(lambda x: x * 2.0, golden=lambda x: x * 3.0)

    def tensor(device):
        return ttnn.from_torch(torch.randn(32, 32).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)

    @pytest.mark.parametrize("number", range(6))
    def test_right(device, number):
        ttnn.split(ttnn.relu(ttnn.matmul(tensor(device), tensor(device))), 16)

    def test_wrong(device):
        doubled(tensor(device))

    def test_unjudged(device):
        ttnn_jit.tile_op(lambda x: x + 1.0)(tensor(device))

    @pytest.fixture
    def wrong_setup(device):
        return doubled(tensor(device))

    def test_wrong_in_its_fixture(wrong_setup):
        pass
"""


def write_files(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))


def run_pytest(folder, *arguments, plugin=True, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SYSTEM_DESC"))}
    load = ["-p", "ttnn_jit.pytest_plugin"] if plugin else []
    return run_python(
        *("-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"),
        *load,
        *arguments,
        cwd=folder,
        env={**clean, "PYTHONPATH": str(ROOT), **environment},
    )


def test_a_suite_for_ttnn_runs_in_several_processes(tmp_path):
    write_files(tmp_path, conftest=CONFTEST, test_suite=TESTS)
    done = run_pytest(tmp_path, "-n", "2")
    assert "5 passed" in done.stdout, done.stdout + done.stderr


def test_without_the_plugin_import_ttnn_finds_nothing(tmp_path):
    write_files(tmp_path, test_suite="import ttnn\n")
    done = run_pytest(tmp_path, plugin=False)
    assert "No module named 'ttnn'" in done.stdout
    assert done.returncode == 2


def test_tests_import_a_real_ttnn_if_there_is_one(tmp_path):
    (tmp_path / "ttnn").mkdir()
    (tmp_path / "ttnn" / "__init__.py").write_text("REAL = True\n")
    write_files(tmp_path, test_suite="import ttnn\n\ndef test_real():\n    assert ttnn.REAL\n")
    done = run_pytest(tmp_path, PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}")
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_projects_own_device_fixture_takes_precedence(tmp_path):
    own = """
        import pytest

        @pytest.fixture(scope="module")
        def device():
            yield "mine"
    """
    suite = "def test_own(device):\n    assert device == 'mine'\n"
    write_files(tmp_path, conftest=own, test_suite=suite)
    done = run_pytest(tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("target", "workers"),
    [("cpu", []), ("file", ["-n", "1"])],
)
def test_the_option_sets_the_target_of_every_device(tmp_path, target, workers):
    named, expected = target, f"{target} {target} 8 {target}"
    if target == "file":
        fields = json.loads(PRESETS["blackhole"].to_json()) | {"name": "narrow", "grid": [8, 3]}
        (tmp_path / "desc.json").write_text(json.dumps(fields))
        named, expected = "desc.json", "narrow blackhole 3 blackhole"
    write_files(tmp_path, conftest=CONFTEST, test_suite=REPORT)
    done = run_pytest(tmp_path, "--ttnn-target", named, "-rP", *workers)
    assert "5 passed" in done.stdout, done.stdout + done.stderr
    assert set(re.findall("< (.*) >", done.stdout)) == {expected}


def test_the_option_applies_in_conftests_and_to_a_projects_own_device(tmp_path):
    own = (
        CONFTEST
        + """
    assert ARCH == "blackhole" and is_blackhole()

    @pytest.fixture
    def device():
        yield ttnn.open_device(device_id=0)
    """
    )
    write_files(tmp_path, conftest=own, test_suite=REPORT)
    done = run_pytest(tmp_path, "--ttnn-target=blackhole")
    assert "5 passed" in done.stdout, done.stdout + done.stderr


def test_without_the_option_the_variable_sets_the_target_and_is_restored(tmp_path):
    (tmp_path / "desc.json").write_text(PRESETS["cpu"].to_json())
    write_files(tmp_path, test_suite=REPORT)
    done = run_pytest(tmp_path, "-rP", SYSTEM_DESC_PATH="desc.json")
    assert "< cpu cpu 8 cpu >" in done.stdout, done.stdout + done.stderr
    program = """
        import os, pytest, sys, tempfile
        arguments = ["-q", "-p", "no:cacheprovider", "-p", "ttnn_jit.pytest_plugin", "--ttnn-target", "cpu"]
        for before in (None, "desc.json"):
            if before is not None:
                os.environ["SYSTEM_DESC_PATH"] = before
            print(int(pytest.main(arguments)), os.environ.get("SYSTEM_DESC_PATH"), os.listdir(tempfile.gettempdir()))
    """
    write_files(tmp_path, program=program)
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
    )
    assert "\n0 None []\n" in done.stdout, done.stdout + done.stderr
    assert done.stdout.endswith("\n0 desc.json []\n"), done.stdout + done.stderr


@pytest.mark.parametrize("target", ["quasar", "no.json"])
def test_an_unknown_target_is_a_usage_error_that_names_it(tmp_path, target):
    write_files(tmp_path, test_suite=REPORT)
    done = run_pytest(tmp_path, "--ttnn-target", target)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert target in done.stderr
    assert "wormhole_b0" in done.stderr
    assert "Traceback" not in done.stderr


def test_suites_run_in_one_process_and_fixture_parameters_reach_devices_and_meshes(tmp_path):
    suite = """
        import pytest
        import torch
        import ttnn

        @pytest.mark.parametrize("device_params", [{"l1_small_size": 24576}, {"fabric_config": None}], indirect=True)
        def test_settings(device, device_params):
            assert len(device_params) == 1 and device.get_num_devices() == 1

        AXIS = {"dispatch_core_axis": ttnn.DispatchCoreAxis.COL}
        TYPE = {"dispatch_core_type": ttnn.DispatchCoreType.ETH, "dispatch_core_axis": None}

        @pytest.mark.parametrize("device_params", [AXIS, TYPE], indirect=True)
        @pytest.mark.parametrize("mesh_device", [1], indirect=True)
        def test_dispatch(device, mesh_device):
            assert device.get_num_devices() == mesh_device.get_num_devices()

        @pytest.mark.parametrize("device_params", [{"target": "cpu"}], indirect=True)
        def test_target(device):
            assert device.target.name == "cpu"

        @pytest.mark.parametrize("device_params", [{"speed": 2}], indirect=True)
        def test_unknown(device):
            pass

        MESHES = [(2, (1, 2)), ((2, 2), (2, 2)), (1, (1, 1))]

        @pytest.mark.parametrize(("mesh_device", "shape"), MESHES, indirect=["mesh_device"])
        def test_mesh(mesh_device, shape):
            assert tuple(mesh_device.shape) == shape
            x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=mesh_device)
            assert len(ttnn.get_device_tensors(ttnn.exp(x))) == mesh_device.get_num_devices()

        @pytest.mark.parametrize("mesh_device", [(4, 8), 32], indirect=True)
        def test_large(mesh_device):
            pass

        def test_all(mesh_device):
            assert mesh_device.get_num_devices() == ttnn.get_num_devices()
    """
    write_files(tmp_path, conftest=CONFTEST, test_parameters=suite, test_suite=TESTS, test_compared=COMPARED)
    done = run_pytest(tmp_path)
    assert "23 passed, 2 skipped, 1 error" in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / "generated").exists()  # without the option nothing is compared
    assert "open_device has no keyword `speed`" in done.stdout


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_comparisons_fail_tests_and_those_of_all_processes_are_in_one_report(tmp_path, workers):
    write_files(tmp_path, test_suite=COMPARED)
    (tmp_path / "report" / "comparison.parts").mkdir(parents=True)
    (tmp_path / "report" / "comparison.parts" / "1-earlier.jsonl").write_text("of another run\n")
    done = run_pytest(tmp_path, "--ttnn-compare", "--ttnn-compare-report", "report", *workers)
    assert "7 passed" in done.stdout, done.stdout + done.stderr
    assert "2 failed" in done.stdout
    assert re.search(
        r"test_suite\.py:\d+:\d+: tile_op\.lambda, output 0, isolated: \d+ of 1024 elements are off", done.stdout
    )
    assert "results compared with goldens, 4 differ, 2 not compared: " in done.stdout
    rows = Report.from_jsonl(tmp_path / "report" / "comparison.jsonl")
    assert len(rows) == 6 * 8 + 2 + 2 + 2
    assert {row.test for row in rows.failures()} == {
        "test_suite.py::test_wrong",
        "test_suite.py::test_wrong_in_its_fixture",
    }
    assert [(row.mode, row.status, row.reason) for row in rows.not_compared()] == [
        (mode, "no_golden", "this tile operation was made without a golden") for mode in ("isolated", "accumulated")
    ]
    assert len({row.process for row in rows}) == (2 if workers else 1)
    page = (tmp_path / "report" / "comparison.html").read_text()
    assert "4 of 52 results differ from their goldens" in page
    assert page.index("These differ, the worst first") < page.index("All, in order")
