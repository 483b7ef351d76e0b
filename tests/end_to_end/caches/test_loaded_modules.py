"""The modules of this package that a process loads which finds its programs on disk."""

import json

import pytest

from tests.processes import run_python

pytestmark = pytest.mark.process

CALL = """
import json, sys
import torch
import ttnn_jit
from ttnn_jit import ttnn

def own():
    return {name for name in sys.modules if name.startswith("ttnn_jit")}

@ttnn_jit.jit()
def doubled(x):
    return ttnn.exp(x) * 2.0

before = own()
doubled(torch.ones(SHAPE))
hit = own() - before
device = ttnn.open_device(device_id=0)
ttnn.exp(ttnn.from_torch(torch.ones(SHAPE), layout=ttnn.TILE_LAYOUT, device=device))
info = ttnn_jit.cache_info()
print(json.dumps([len(before), sorted(hit), sorted(own() - before), info.compiles, "xdsl" in sys.modules]))
"""
MOST_AT_IMPORT, MOST_OF_A_HIT = 226, 40
"""Modules of this package; a process that compiles loads about 580."""
OF_COMPILES = ("driver", "inspection", "siblings", "symbols", "template", "templates", "stored_templates")


@pytest.fixture
def of_a_process(tmp_path):
    def run(shape):
        file = tmp_path / "call.py"
        file.write_text(CALL.replace("SHAPE", repr(shape)))
        return json.loads(run_python(str(file), check=True).stdout.splitlines()[-1])

    return run


def test_a_process_that_finds_its_programs_loads_no_compiler(of_a_process):
    assert of_a_process((4, 32))[3] == 2
    at_import, of_a_hit, loaded, compiles, has_xdsl = of_a_process((4, 32))
    assert compiles == 0
    assert not has_xdsl
    assert at_import <= MOST_AT_IMPORT
    assert len(of_a_hit) <= MOST_OF_A_HIT, of_a_hit
    compiling = {f"ttnn_jit.compiler.{name}" for name in OF_COMPILES}
    assert not compiling.intersection(loaded)
    assert not [name for name in loaded if name.startswith(("ttnn_jit.specs.extents.trace", "ttnn_jit.frontend"))]


def test_a_size_that_follows_one_that_was_found_is_a_template(of_a_process, tmp_path):
    text = (
        CALL
        + """
for rows in (5, 6, 7):
    doubled(torch.ones(rows, 32))
after = ttnn_jit.cache_info()
print(json.dumps([after.compiles - info.compiles, after.templates]))
"""
    )
    file = tmp_path / "sizes.py"
    file.write_text(text.replace("SHAPE", "(4, 32)"))
    of_a_process((4, 32))
    assert json.loads(run_python(str(file), check=True).stdout.splitlines()[-1]) == [1, 1]
