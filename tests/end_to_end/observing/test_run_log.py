"""Executed programs are printed with `debug=True` and logged at the level of the environment variables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

import ttnn_jit
from tests.processes import run_python
from ttnn_jit import ttnn


def cosh(x):
    return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)


def two_kernels(x):
    y = ttnn.exp(x)
    return ttnn.add(ttnn.neg(y), ttnn.tanh(y))


def on(device, *shape, dtype=torch.float32):
    return ttnn.from_torch(torch.ones(shape, dtype=dtype), layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("calls", [2, 5])
@pytest.mark.parametrize("library", ["ttnn", "torch", "numpy"])
def test_debug_prints_each_launch_of_every_call(capsys, device, library, calls):
    x = {"ttnn": on(device, 64, 32), "torch": torch.ones(64, 32), "numpy": np.ones((64, 32), np.float32)}[library]
    jitted = ttnn_jit.jit(debug=True)(cosh)
    first = jitted(x)
    printed = capsys.readouterr().out
    assert "IR Dump After" in printed
    (line,) = (line for line in printed.splitlines() if line.startswith("// run "))
    assert re.fullmatch(r"// run cosh\[0\] k_\w+ arg0: 64x32xf32, out0: 64x32xf32", line)
    for _ in range(calls):
        again = jitted(x)
        assert capsys.readouterr().out == f"{line}\n"
    assert type(again) is type(first)


def test_debug_prints_every_kernel_of_a_program_and_its_tensors(capsys, device):
    x = on(device, 32, 64, dtype=torch.bfloat16)
    jitted = ttnn_jit.jit(debug=True, extra_pipeline_options="")(two_kernels)
    program_kernels = len(jitted.explain(x).kernels)
    jitted(x)
    capsys.readouterr()
    jitted(x=x)
    lines = capsys.readouterr().out.splitlines()
    assert 1 <= len(lines) <= program_kernels
    assert all(re.match(rf"// run two_kernels\[{k}\] k_\w+ ", line) for k, line in enumerate(lines))
    assert "arg0: 32x64xbf16" in lines[0]
    assert "out0: 32x64xbf16" in lines[-1]


def test_debug_reports_a_program_without_launches(capsys):
    jitted = ttnn_jit.jit(debug=True)(lambda x: x)
    jitted(torch.ones(2))
    capsys.readouterr()
    jitted(torch.ones(2))
    assert capsys.readouterr().out == "// run lambda launches nothing\n"


def test_other_functions_print_nothing_and_take_the_fast_path(capsys):
    jitted = ttnn_jit.jit()(cosh)
    for _ in range(4):
        jitted(torch.ones(2))
    assert capsys.readouterr() == ("", "")
    assert jitted._latest
    assert not ttnn_jit.jit(debug=True)(cosh)._latest


SCRIPT = """
    import numpy
    import ttnn_jit
    from ttnn_jit import ttnn

    @ttnn_jit.jit()
    def cosh(x):
        return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)

    device = ttnn.open_device(device_id=0)
    x = ttnn.ones([32, 32], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    for _ in range(4):
        cosh(x)
    for _ in range(4):
        cosh(numpy.ones((32, 32), numpy.float32))
    for _ in range(4):
        ttnn.exp(x)
"""


def unlogged():
    """The environment without the variables that ask for a log."""
    return {name: value for name, value in os.environ.items() if "LOGGER_LEVEL" not in name}


def logged(*, script=SCRIPT, **variables):
    """The lines on standard error of a process with these variables."""
    done = run_python("-c", textwrap.dedent(script), env=unlogged() | variables, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


@pytest.fixture(scope="module")
def compiled_programs(tmp_path_factory):
    """A folder with the stored programs of `SCRIPT`."""
    folder = tmp_path_factory.mktemp("programs")
    logged(TTNN_JIT_CACHE_DIR=str(folder))
    return folder


@pytest.fixture
def warm(compiled_programs, monkeypatch):
    """Processes find the programs of `SCRIPT` on disk; otherwise the first process of a test compiles them."""
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(compiled_programs))


OPS = ["ttnn.exp", "ttnn.neg", "ttnn.exp", "ttnn.add", "ttnn.multiply"]


@pytest.mark.process
def test_trace_logs_a_line_for_each_operation_that_runs():
    lines = logged(TTMLIR_RUNTIME_LOGGER_LEVEL="Trace")
    ops = [line for line in lines if line.startswith("TRACE")]
    cosh = [line for line in ops if " cosh op " in line]
    # The numbers of a program are tensors: `full`.
    names = [line.rpartition(": ")[2] for line in cosh if "ttnn.full" not in line]
    assert names == OPS * 8
    assert [line for line in ops if "exp op 0: ttnn.exp" in line] == [
        "TRACE | ttnn_jit.run | ttnn.exp op 0: ttnn.exp"
    ] * 4
    assert sum("DEBUG" in line for line in lines) == 12
    for value in ("TRACE", "trace"):
        assert logged(TTMLIR_RUNTIME_LOGGER_LEVEL=value) == lines


@pytest.mark.process
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("name", ["TTMLIR_RUNTIME_LOGGER_LEVEL", "TTRT_LOGGER_LEVEL"])
def test_debug_logs_a_line_for_each_launch_and_info_for_each_program(name):
    lines = logged(**{name: "Debug"})
    launches = [line for line in lines if line.startswith("DEBUG")]
    assert len(launches) == 12
    assert "loaded cosh" in lines[0]
    assert next(line for line in lines if "ttnn.exp" in line).startswith("INFO")
    assert re.fullmatch(r"DEBUG \| ttnn_jit.run \| cosh\[0\] k_\w+ arg0: 32x32xf32, out0: 32x32xf32", launches[0])
    loads = [line for line in lines if line.startswith("INFO")]
    assert [re.search(r"loaded ([\w.]+): k_\w+$", line)[1] for line in loads] == ["cosh", "cosh", "ttnn.exp"]
    assert logged(**{name: "INFO"}) == loads
    assert logged(**{name: "warning"}) == logged(**{name: "Error"}) == logged(**{name: "FATAL"}) == []


@pytest.mark.process
@pytest.mark.usefixtures("warm")
def test_the_more_verbose_variable_decides_and_without_them_nothing_is_logged():
    assert logged() == logged(TTRT_LOGGER_LEVEL="") == []
    both = logged(TTMLIR_RUNTIME_LOGGER_LEVEL="Trace", TTRT_LOGGER_LEVEL="Info")
    assert both == logged(TTMLIR_RUNTIME_LOGGER_LEVEL="Info", TTRT_LOGGER_LEVEL="Trace")
    assert any(line.startswith("TRACE") for line in both)


@pytest.mark.process
@pytest.mark.usefixtures("warm")
def test_an_unknown_level_causes_a_warning_and_means_info():
    lines = logged(TTRT_LOGGER_LEVEL="loud")
    assert any("TTRT_LOGGER_LEVEL is 'loud', which is no level: INFO is taken" in line for line in lines)
    assert sum(line.startswith("INFO") for line in lines) == 3
    assert not any(line.startswith("DEBUG") for line in lines)


@pytest.mark.process
def test_a_program_that_configures_logging_gets_the_lines_in_its_handlers():
    lines = logged(
        script="import logging, sys\nlogging.basicConfig(format='own %(message)s')\n" + textwrap.dedent(SCRIPT),
        TTRT_LOGGER_LEVEL="DEBUG",
    )
    assert len(lines) == 15
    assert all(line.startswith("own ") for line in lines)


@pytest.mark.process
def test_without_the_variables_logging_is_not_imported():
    script = "import sys, numpy, ttnn_jit; from ttnn_jit import ttnn; assert 'logging' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], env=unlogged(), check=True)
