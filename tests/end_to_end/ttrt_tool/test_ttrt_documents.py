"""docs/ttrt.md and the workflow of docs/examples say what is there, and run."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.processes import run_python
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.ttrt.option_tables import with_tables
from ttnn_jit.tools.ttrt.ttrt_command import parser_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "ttrt.md").read_text()
WORKFLOW = yaml.safe_load((DOCS / "examples/compiled_binaries.yml").read_text())
STEPS = {each["name"]: each for each in WORKFLOW["jobs"]["binaries"]["steps"] if "run" in each}


def commands_of(text):
    """The command lines of ttrt in a text."""
    found = re.findall(r"^\s*(ttrt \w[^`|\n]*)", text, re.MULTILINE)
    return [line.partition("||")[0].strip() for line in found]


def test_the_tables_of_the_page_are_current():
    assert with_tables(PAGE) == PAGE, "run `make docs`"


@pytest.mark.parametrize("line", commands_of(PAGE) + [c for each in STEPS.values() for c in commands_of(each["run"])])
def test_every_command_line_of_page_and_workflow_is_accepted(line):
    assert parser_of().parse_args(shlex.split(line)[1:]).command


def test_the_workflow_builds_checks_runs_and_measures(ttrt, monkeypatch, tmp_path):
    """Its commands in their order; the script is a file of the checkout."""
    environment = WORKFLOW["jobs"]["binaries"]["env"]
    for name, step in STEPS.items():
        own = {**environment, **step.get("env", {})}
        monkeypatch.setenv("SYSTEM_DESC_PATH", own["SYSTEM_DESC_PATH"])
        if name == "Build the binaries":
            _, _, module, script, *arguments = step["run"].split()
            done = run_python("-m", module, DOCS.parent / script, *arguments, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        for line in commands_of(step["run"]):
            done = ttrt(*shlex.split(line)[1:])
            assert done.status == 0, (line, done.err)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"run_results.json", "perf_results.json", "ttrt_report.xml", "ttrt-artifacts"} <= names
    assert "42" in STEPS["Run them, and compare every operation"]["run"]


def test_steps_without_ttrt_are_commands_that_other_tests_run():
    others = {name: step["run"] for name, step in STEPS.items() if not commands_of(step["run"])}
    assert others.keys() == {"Install", "Build the binaries", "Run them in a session"}
    assert others["Install"] in (DOCS.parent / "README.md").read_text()
    assert others["Run them in a session"] == "python -m ttnn_jit docs/examples/compiled_binaries.py"  # test_docs.py


@pytest.mark.parametrize(("status", "says"), [(0, ""), (1, ""), (42, "::error::results differ from their goldens")])
def test_the_workflow_tells_wrong_results_from_failures(status, says):
    script = f"ttrt() {{ return {status}; }}\n{STEPS['Run them, and compare every operation']['run']}"
    done = subprocess.run(["bash", "-e", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (status, says)


def test_the_command_is_also_one_of_ttnn_jit(capsys):
    assert main(["ttrt", "query", "--quiet"]) == 0
    assert "wormhole_b0 rules on cpu" in capsys.readouterr().err
