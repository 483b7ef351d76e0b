"""The source distribution is the whole checkout, and the wheel is exactly the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.processes import run_python

ROOT = Path(__file__).parents[3]
GENERATED = (".git", ".venv", "*.egg-info", "build", "dist", "generated", "__pycache__", ".*_cache", ".hypothesis")
NOT_DISTRIBUTED = {".gitignore"}

pytestmark = [pytest.mark.process, pytest.mark.slow]


def run(*command, cwd, **environment):
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(kind, source, folder):
    """The distribution that setuptools, a dependency of torch, builds from `source`."""
    folder.mkdir()
    run(
        sys.executable, "-c", f"from setuptools import build_meta; build_meta.build_{kind}({str(folder)!r})", cwd=source
    )
    (built,) = folder.iterdir()
    return built


def files_below(folder):
    """Every file, including those in linked folders."""
    walked = os.walk(folder, followlinks=True)
    return {str(Path(where, name).relative_to(folder)) for where, _, names in walked for name in names}


def tracked():
    """The files that git tracks; None without a repository or without git."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        return None
    return run("git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", cwd=ROOT).split("\0")[:-1]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The checkout without generated or untracked files."""
    folder = tmp_path_factory.mktemp("checkout") / "ttnn_jit"
    names = tracked()
    if names is None:
        return shutil.copytree(ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns(*GENERATED))
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


@pytest.fixture(scope="module")
def unpacked(checkout, tmp_path_factory):
    """The source distribution of the checkout, in a folder of its own."""
    folder = tmp_path_factory.mktemp("unpacked")
    before = files_below(checkout)
    with tarfile.open(build("sdist", checkout, folder / "sdist")) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # available from Python 3.11.4 on
        archive.extractall(folder)
    shutil.rmtree(checkout / "ttnn_jit.egg-info")
    assert files_below(checkout) == before
    (found,) = folder.glob("ttnn_jit-*")
    return found


@pytest.fixture(scope="module")
def installed(unpacked, tmp_path_factory):
    """The wheel of the source distribution, as an installer lays it out."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(build("wheel", unpacked, folder / "wheel")) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_source_distribution_holds_every_file_of_the_checkout(checkout, unpacked):
    assert files_below(checkout) - files_below(unpacked) <= NOT_DISTRIBUTED


def test_the_wheel_holds_the_package_and_nothing_else(checkout, installed):
    package = {name for name in files_below(installed) if not name.partition("/")[0].endswith(".dist-info")}
    assert package == {f"ttnn_jit/{name}" for name in files_below(checkout / "ttnn_jit")}
    assert {Path(name).suffix for name in package} == {".py", ".pyi", ".tsv", ".typed"}


def test_an_installation_from_the_source_distribution_runs_the_demo_and_has_its_entry_points(installed, tmp_path):
    script = (
        "import ttnn_jit, sys; from importlib.metadata import entry_points, version; "
        "assert version('ttnn_jit') == ttnn_jit.__version__; "
        "(command,) = entry_points(group='console_scripts', name='ttnn-jit'); "
        "(opt,) = entry_points(group='console_scripts', name='ttmlir-opt'); opt.load(); "
        "(universe,) = entry_points(group='xdsl.universe', name='ttnn_jit'); universe.load(); "
        "print(ttnn_jit.__file__); sys.exit(command.load()(['demo']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    printed = run_python("-c", script, cwd=tmp_path, env=environment, check=True).stdout
    assert printed.startswith(str(installed))
    assert "largest relative error" in printed


def test_tests_run_in_the_unpacked_source_distribution(unpacked):
    arguments = ["-m", "pytest", "-q", "-n", "0", "tests/unit/cache/test_manifest.py", "tests/mlir/cse"]
    environment = {**os.environ, "PYTHONPATH": ""}
    assert "passed" in run_python(*arguments, cwd=unpacked, env=environment, check=True).stdout
