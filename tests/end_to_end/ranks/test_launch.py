"""`ttnn-jit launch` and `tt-run` start ranks, end them together, and print what they did last."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.ranks.collective_script import TILES, digest_of, random_numbers, two_collectives
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.tools import tt_run
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.tt_run import rank_environments

SCRIPT = Path(__file__).with_name("rank_script.py")
ROOT = Path(__file__).parents[3]


@pytest.mark.process
@pytest.mark.slow
def test_launched_ranks_compute_exchange_and_end_together(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = [sys.executable, "-c", "import sys; from ttnn_jit.tools.cli import main; sys.exit(main(sys.argv[1:]))"]
    done = subprocess.run(
        [*command, "launch", "-n", "2", "--tag-output", str(SCRIPT), "--an", "argument"],
        capture_output=True, text=True, timeout=200, check=False, cwd=ROOT,
    )  # fmt: skip
    shown = done.stdout + done.stderr
    assert done.returncode == 128 + 9, shown
    digests = re.findall(r"DIGEST (\w+)", done.stdout)
    assert digests == [digest_of(two_collectives, ttnn.bfloat16, TILES)()] * 2
    assert re.findall(r"RANDOM (\w+)", done.stdout) == [digest_of(random_numbers, ttnn.bfloat16, TILES)()] * 2
    line = next(n for n, text in enumerate(SCRIPT.read_text().splitlines(), 1) if text.endswith("# the last line"))
    (survivor,) = re.findall(r"SURVIVOR (.*)", done.stdout)
    assert survivor.startswith(f"{SCRIPT}:{line}:")
    assert re.search(r"rank 1 \(process \d+ on [\w.-]+\) with device 1 was lost|the launcher ended rank 0", survivor)
    assert "DistributedError" in done.stderr
    assert re.search(r"error: rank 1 \(process \d+\) was killed by SIGKILL; the other ranks were ended", done.stderr)
    assert re.search(r"rank 1: exchange \d+, [\d.]+ s ago, ended: `distributed_context_barrier` at", done.stderr)
    assert re.search(r"rank 0: exchange \d+, [\d.]+ s ago, failed: .*", done.stderr)
    left = [file.name for file in tmp_path.iterdir() if not file.name.startswith("torchinductor")]  # torch's own cache
    assert left == [], "no file is left"


@pytest.mark.process
@pytest.mark.slow
def test_the_pipeline_of_the_docs_has_the_same_bits_in_two_ranks_and_in_one_process():
    pipeline = ROOT / "docs" / "examples" / "meshes" / "pipeline.py"
    launched = "import sys; from ttnn_jit.tools.tt_run import main; sys.exit(main(sys.argv[1:]))"
    binding = ["--rank-binding", str(pipeline.with_suffix(".yaml")), sys.executable, str(pipeline)]
    shown = []
    for command in (["-m", "ttnn_jit", str(pipeline)], ["-c", launched, *binding]):
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, timeout=200, check=False, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout + done.stderr
        shown.append(re.findall(r"digest \w+|PASSED", done.stdout))
    assert len(shown[0]) == 2
    assert shown[0] == shown[1]


BINDINGS = """
rank_bindings:
  - {rank: 1, mesh_id: 0, mesh_host_rank: 1, env_overrides: {COLOR: $HOME/b}}
  - {rank: 0, mesh_id: 0, mesh_host_rank: 0}
global_env: {COLOR: a}
mesh_graph_desc_path: mesh.textproto
"""


def test_tt_run_shows_the_environment_of_each_rank(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    file = tmp_path / "bindings.yaml"
    file.write_text(BINDINGS)
    status = tt_run.main(["--rank-binding", str(file), "--mpi-args", "--tag-output", "--dry-run", "python3", "-m", "x"])
    assert status == 0
    assert capsys.readouterr().out.splitlines() == [
        "rank 0: COLOR=a TT_MESH_GRAPH_DESC_PATH=mesh.textproto TT_MESH_ID=0 TT_MESH_HOST_RANK=0 python3 -m x",
        "rank 1: COLOR=/home/me/b TT_MESH_GRAPH_DESC_PATH=mesh.textproto TT_MESH_ID=0 TT_MESH_HOST_RANK=1 python3 -m x",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mpi-args", "--host a,b", "python3"], "does not honour '--host' of `--mpi-args`"),
        (["no_such_program"], "there is no program 'no_such_program'"),
        ([], "tt-run needs a program"),
    ],
)
def test_tt_run_refuses_what_it_does_not_honour(arguments, message, tmp_path, capsys):
    file = tmp_path / "bindings.yaml"
    file.write_text(BINDINGS)
    assert tt_run.main(["--rank-binding", str(file), *arguments]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([], "file has no fields"),
        ({}, "file lists no `rank_bindings`"),
        ({"rank_bindings": [{"rank": 0}]}, "`mesh_id` of a rank binding is None"),
        ({"rank_bindings": [{"rank": 1, "mesh_id": 0}]}, r"the ranks are \[1\], and not 0, 1, 2 and so on"),
        ({"rank_bindings": [{"rank": 0, "mesh_id": 0}] * 2}, r"the ranks are \[0, 0\]"),
        ({"rank_bindings": [{"rank": 0, "mesh_id": 0, "env_overrides": 1}]}, "`env_overrides` has no fields"),
    ],
)
def test_bindings_of_another_form_are_refused(config, message):
    with pytest.raises(ArgumentError, match=message):
        rank_environments(config, "file")


def test_a_script_that_does_not_exist_starts_no_rank(capsys):
    assert main(["launch", "-n", "2", "absent.py"]) == 1
    assert capsys.readouterr().err.splitlines()[0] == "error: absent.py does not exist, or is no file"
