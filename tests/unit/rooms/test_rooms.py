"""Rooms contain all files, and no two files share a name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import ttnn_jit

PACKAGE = Path(ttnn_jit.__file__).parent
LOOSE = {"__init__", "__main__", "api", "dtensor", "testing", "pytest_plugin"}  # the last is the name for `pytest -p`
PUBLIC_MODULES = {"device"}  # `ttnn.device` is imported by users
OF_LLVM = {"blocks", "elements", "types", "values"}  # terms of LLVM, in kernels/llvm


def files():
    """Every module of the package; `cache` and `kernels` may be links."""
    return {*PACKAGE.rglob("*.py"), *(PACKAGE / "cache").rglob("*.py"), *(PACKAGE / "kernels").rglob("*.py")}


def test_no_module_is_outside_a_room():
    assert {path.stem for path in PACKAGE.glob("*.py")} == LOOSE


def test_no_folder_holds_more_than_twenty_five_files():
    checkout = PACKAGE.parent
    ours = {*files(), *(checkout / "tests").rglob("*.py"), *(checkout / "benchmarks").rglob("*.py")}
    counted = Counter(path.parent for path in ours)
    assert {str(folder): count for folder, count in counted.items() if count > 25} == {}


def test_no_two_rooms_hold_files_of_one_name():
    rooms = [path for path in files() if path.parent != PACKAGE and path.parent.name != "on_pythonpath"]
    counted = Counter(path.stem for path in rooms if path.stem != "__init__")
    assert {name for name, count in counted.items() if count > 1} == PUBLIC_MODULES | OF_LLVM


def test_only_a_dialect_and_a_subcommand_have_the_name_of_a_room():
    names = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    rooms = [path for path in files() if path.parent != PACKAGE and path.parent.name != "on_pythonpath"]
    named = {f"{path.parent.name}/{path.stem}" for path in rooms if path.stem in names}
    assert named == {"dialects/ttnn", "tools/cache"}
