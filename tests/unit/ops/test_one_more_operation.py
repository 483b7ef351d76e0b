"""An operation of any family is one declaration: the text of docs/adding_an_operation.md adds them to a copy."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

from tests.copies import package_with_own
from tests.processes import run_python

ROOT = Path(__file__).parents[3]

USE = """
import sys
import torch
import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.ops import OVERLOADS

STAGE = "d2m-insert-dst-register-access"
BIT_TYPES = {torch.float32: "i4", torch.bfloat16: "i2"}


def program_of(name, statics):
    return lambda *tensors: getattr(ttnn, name)(*tensors, *statics)


def for_interpreter(x):
    return x.contiguous().view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


for name in sys.argv[1:]:
    (operation,) = OVERLOADS[name]
    for shapes, statics in operation.examples or [(((33, 40),), ())]:
        for dtype in BIT_TYPES:
            generator = torch.Generator().manual_seed(1)
            tensors = [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]
            program = program_of(name, statics)
            jitted = ttnn_jit.jit()(program)
            got = jitted(*tensors)
            want = operation.golden(torch, *(x.double() for x in tensors), *statics)
            assert got.shape == want.shape
            assert torch.allclose(got.double(), want, rtol=2**-8, atol=2**-8), (name, dtype)
            for options in ({"graph_capture": True}, {"backend": "numba"}):
                assert torch.equal(ttnn_jit.jit(**options)(program)(*tensors), got), (name, options)
            text = jitted.ir(*tensors, stage=STAGE)
            module = parse_module(text)
            assert print_module(module) == text
            (interpreted,) = interpret(module, [for_interpreter(x) for x in tensors])
            found = for_interpreter(got).reshape(-1).view(BIT_TYPES[dtype])
            assert (interpreted.reshape(-1).view(BIT_TYPES[dtype]) == found).all(), name
            assert jitted.explain(*tensors).launches
            for target in ("cpu", "wormhole_b0"):
                with ttnn.manage_device(0, target=target) as device:
                    on_device = [ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device) for x in tensors]
                    assert torch.equal(program(*on_device).to_torch(), got), (name, target)
            (before,) = (jitted.num_entries,)
            jitted.clear()
            assert before == 1 and torch.equal(jitted(*tensors), got)  # from disk
print("done", ttnn_jit.cache_info().disk_hits)
"""


USE_OF_HOST_FUNCTION = """
import torch
import ttnn_jit
from ttnn_jit import ttnn

assert "first_rows" not in vars(ttnn) and not hasattr(ttnn, "second_rows")
told = []
with ttnn.register_pre_operation_hook(lambda operation, args, kwargs: told.append(operation.__name__)):
    assert ttnn.first_rows(ttnn.from_torch(torch.eye(3)), num_rows=2) == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
assert "first_rows" in told
assert ttnn.first_rows.__doc__ == "The numbers of the first rows."
try:
    ttnn.first_rows(torch.eye(3), "2")
except ttnn_jit.diagnostics.errors.ArgumentError as error:
    assert error.message == "`tensor` of first_rows must be a ttnn.Tensor, got a torch.Tensor"
else:
    raise AssertionError


@ttnn_jit.jit()
def f(x):
    return x * ttnn.first_rows(x)[0][0]


try:
    f(torch.eye(3))
except ttnn_jit.diagnostics.errors.UnsupportedFunction as error:
    print(error)
"""


def declared_in(text):
    """The declaring part of the first block of a section: imports, functions and constants; and the last name."""
    block = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0]
    kept, name = [], ""
    for node in ast.parse(block).body:
        is_declaration = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if is_declaration or isinstance(node, ast.ImportFrom | ast.FunctionDef):
            kept.append(ast.unparse(node))
        if is_declaration:
            name = node.targets[0].id
    return "\n".join(kept), name


def sections():
    """Operation family -> the file that its section names, its text, and the constant that holds the declaration.

    Collectives are no operations of programs: tests/end_to_end/meshes/test_exchanges.py runs that of the page.
    """
    page = (ROOT / "docs" / "adding_an_operation.md").read_text()
    found = {}
    for section in page.split("\n## ")[1:]:
        files = re.findall(r"`(ops/[\w/]+\.py)`", section)  # host functions have none
        if files and "```python" in section and not section.startswith("Collective"):
            found[section.partition(":")[0]] = files[0], *declared_in(section)
    return found


@pytest.mark.process
@pytest.mark.slow
def test_the_page_adds_an_operation_of_every_family_with_one_declaration_and_no_other_file(tmp_path):
    families = sections()
    assert {*families} >= {"Elementwise", "Movement", "Reduction", "Contraction", "Composite", "Routine"}
    copy = package_with_own("ops", tmp_path)
    for file, text, name in families.values():
        with (copy / file).open("a") as declarations:
            declarations.write(f"\n\n{text}\n\nOPERATIONS = (*OPERATIONS, {name})\n")
    names = [re.search(r"""name='(\w+)'|\w+ = \w+\('(\w+)'""", text) for _, text, _ in families.values()]
    (tmp_path / "use.py").write_text(USE)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TTNN_JIT_CACHE_DIR": str(tmp_path / "cache")}
    done = run_python("use.py", *(found[1] or found[2] for found in names), cwd=tmp_path, env=environment)
    assert done.stdout.startswith("done"), done.stderr
    assert int(done.stdout.split()[1]) > 0


@pytest.mark.process
def test_the_page_adds_a_function_of_the_host_api_with_one_declaration_and_no_other_file(tmp_path):
    page = (ROOT / "docs" / "adding_an_operation.md").read_text()
    section = page.partition("\n## Host: ")[2].partition("\n## ")[0]
    block = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)[0]
    copy = package_with_own("ttnn", tmp_path)
    (copy / "ttnn" / "rows_of_tensors.py").write_text(block.partition("\n\n\nprint(")[0])
    (tmp_path / "use.py").write_text(USE_OF_HOST_FUNCTION)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TTNN_JIT_CACHE": "0"}
    done = run_python("use.py", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "return x * ttnn.first_rows(x)[0][0]\n" in done.stdout
    assert "`ttnn.first_rows` runs on the host" in done.stdout
