"""`make` installs torch's CPU build if it can, and continues without it otherwise."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CPU_INDEX = "https://download.pytorch.org/whl/cpu"

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("make") is None, reason="there is no make"),
]


@pytest.fixture
def setup(tmp_path):
    """Sets up an environment whose Python records the calls of pip instead of running them."""
    scripts = tmp_path / "venv" / "bin"
    scripts.mkdir(parents=True)
    python = scripts / "python"
    python.write_text(f'#!/bin/sh\nif [ "$1" = -m ]; then echo "$@"; else exec {sys.executable} "$@"; fi\n')
    python.chmod(0o755)
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()

    def make(*variables, system="Linux"):
        (tmp_path / "uname").write_text(f"#!/bin/sh\necho {system}\n")
        (tmp_path / "uname").chmod(0o755)
        environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        command = ["make", "-s", "VENV=venv", "venv/.dev", *variables]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)

    return make


@pytest.fixture
def index():
    """An index that answers."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/whl/torch/" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/whl"
        server.shutdown()
        thread.join()


def test_pip_gets_an_index_that_answers_once_where_torch_is_installed(setup, index):
    done = setup(f"TORCH_INDEX={index}", "PIP_FLAGS=--no-input")
    assert done.stdout.splitlines() == [
        f"-m pip install -q --no-input -c constraints.txt --extra-index-url {index} -e .",
        "-m pip install -q --no-input -c constraints.txt -e .[dev]",
    ]
    assert done.stderr == ""


@pytest.mark.parametrize("wrong", ["http://127.0.0.1:1", "http://no.such.host.invalid/whl", "{index}/not"])
def test_pip_does_not_get_an_index_that_does_not_answer_and_make_says_so(setup, index, wrong):
    wrong = wrong.format(index=index)
    done = setup(f"TORCH_INDEX={wrong}")
    assert done.stdout.splitlines()[0] == "-m pip install -q -c constraints.txt -e ."
    (said,) = done.stderr.splitlines()
    assert said.startswith(f"torch is taken from pip's own index: {wrong} does not answer")


def test_no_index_is_tried_where_none_is_wanted_or_the_system_has_no_other_build(setup):
    for done in (setup("TORCH_INDEX="), setup(system="Darwin")):
        assert CPU_INDEX not in done.stdout + done.stderr
        assert done.stderr == ""


def test_the_index_is_pytorchs_on_linux_and_the_one_of_the_readme():
    assert f",{CPU_INDEX})" in (ROOT / "Makefile").read_text()
    assert f"--extra-index-url {CPU_INDEX}" in (ROOT / "README.md").read_text()
