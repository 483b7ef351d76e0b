"""`xdsl-opt` knows our dialects and passes."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
import torch
from xdsl.universe import XDSL_UNIVERSE

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.dialects import context, parse_module, print_module
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.tools.xdsl_universe import UNIVERSE
from ttnn_jit.transforms import pipeline

ROOT = Path(__file__).parents[3]


def test_the_universe_has_every_dialect_and_every_stage_that_xdsl_lacks():
    dialects = {dialect.name: dialect for dialect in context().loaded_dialects}
    stages = {stage.name: type(stage) for stage in pipeline.stage_passes(CompileOptions())}
    assert set(UNIVERSE.all_dialects) == set(dialects) - set(XDSL_UNIVERSE.all_dialects)
    assert set(UNIVERSE.all_passes) == set(stages) - set(XDSL_UNIVERSE.all_passes)
    assert all(load() is dialects[name] for name, load in UNIVERSE.all_dialects.items())
    assert all(load() is stages[name] for name, load in UNIVERSE.all_passes.items())


@pytest.mark.process
def test_an_xdsl_command_that_uses_nothing_of_ours_does_not_load_the_compiler():
    script = (
        "import sys, ttnn_jit.tools.xdsl_universe as u; print(*(name for name in sys.modules if 'ttnn_jit' in name))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not any(
        name.startswith(("ttnn_jit.dialects", "ttnn_jit.transforms.pipeline")) for name in done.stdout.split()
    )


@pytest.fixture
def xdsl_opt(tmp_path):
    """The command, in an environment where this package is installed according to pyproject.toml."""
    entry_points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    installed = tmp_path / "ttnn_jit-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: ttnn_jit\nVersion: 0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items()) for group, named in entry_points.items()
    ]
    (installed / "entry_points.txt").write_text("".join(lines))

    def run(text, *arguments):
        command = Path(sysconfig.get_path("scripts"), "xdsl-opt")
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        return subprocess.run(
            [command, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": path},
        ).stdout

    return run


@pytest.mark.slow
@pytest.mark.process
def test_xdsl_opt_reads_the_dump_of_the_last_stage_and_runs_all_stages_on_the_first(xdsl_opt, device):
    x = ttnn.from_torch(torch.zeros(64, 64, dtype=torch.bfloat16), layout=ttnn.TILE_LAYOUT, device=device)
    jitted = ttnn_jit.jit()(programs.cosh)
    first, last = (jitted.ir(x, stage=stage) for stage in ("frontend", pipeline.STAGES[-1]))
    for printed in (xdsl_opt(last), xdsl_opt(first, "-p", ",".join(pipeline.STAGES))):
        # In xDSL's own spelling, which ours reads.
        assert print_module(parse_module(printed)) == last
