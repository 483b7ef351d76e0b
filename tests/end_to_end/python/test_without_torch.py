"""Without torch: jitted functions of numpy arrays and eager ttnn work, and functions that need torch say so."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.process

WITHOUT_TORCH = """
import sys
import warnings

warnings.simplefilter("error")


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


sys.meta_path.insert(0, Absent())

import math
import numpy
import ttnn_jit
from ttnn_jit import ttnn

X = numpy.linspace(-2, 2, 2048, dtype=numpy.float32).reshape(32, 64)


def cosh(x):
    return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)


def refused(action, *texts):
    try:
        action()
    except ImportError as error:
        assert isinstance(error, ttnn_jit.diagnostics.errors.TtnnJitError), error
        assert all(text in str(error) for text in texts), error
        return
    raise SystemExit("it was not refused")
"""


PROGRAMS = {
    "the decorator works on numpy arrays on every way": """
        for options in ({}, {"graph_capture": True}, {"backend": "numba"}, {"debug": True}, {"target": "wormhole_b0"}):
            jitted = ttnn_jit.jit(**options)(cosh)
            for _ in range(4):
                numpy.testing.assert_allclose(jitted(X), numpy.cosh(X), rtol=1e-6)
            numpy.testing.assert_allclose(jitted(x=X[:, :32]), numpy.cosh(X[:, :32]), rtol=1e-6)
        large = numpy.ones((1024, 1024), numpy.float32)
        numpy.testing.assert_allclose(ttnn_jit.jit()(cosh)(large), numpy.cosh(large), rtol=1e-6)
        """,
    "inspection works": """
        jitted = ttnn_jit.jit()(cosh)
        assert '"ttnn.exp"' in jitted.ir(X)
        assert "define" in jitted.ir(X, stage="codegen")
        assert jitted.ir(X, stage="assembly")
        assert len(jitted.explain(X).kernels) == 1
        assert "<table>" in jitted.explain(X)._repr_html_()
        jitted(X)
        assert ttnn_jit.explain_miss(jitted, X)
        assert ttnn_jit.supported_ops()
        """,
    "a tile operation works": """
        @ttnn_jit.tile_op
        def softcap(x):
            return 3.0 * math.tanh(x / 3.0)

        @ttnn_jit.tile_op
        def steps(x):
            return int(x) + 0.5

        jitted = ttnn_jit.jit()(lambda x: softcap(steps(x)))
        numpy.testing.assert_allclose(jitted(X), 3 * numpy.tanh((numpy.trunc(X) + 0.5) / 3), rtol=1e-6)
        """,
    "eager ttnn works on tensors that ttnn makes and numpy reads them": """
        for target in ("wormhole_b0", "cpu"):
            device = ttnn.open_device(device_id=0, target=target)
            for dtype in (ttnn.float32, ttnn.bfloat16):
                for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
                    made = dict(dtype=dtype, layout=layout, device=device)
                    x = ttnn.full([33, 5], 1.5, **made)
                    y = ttnn.exp(ttnn.add(x, ttnn.ones([33, 5], **made)))
                    array = numpy.asarray(y.cpu())
                    numpy.testing.assert_allclose(array, numpy.full((33, 5), math.exp(2.5)), rtol=4e-3)
                    assert "ttnn.Tensor([[12." in str(y)
                    other = {ttnn.TILE_LAYOUT: ttnn.ROW_MAJOR_LAYOUT, ttnn.ROW_MAJOR_LAYOUT: ttnn.TILE_LAYOUT}[layout]
                    for moved in (ttnn.to_layout(y, other), y.to(other), ttnn.clone(y), y.cpu().to(device)):
                        assert numpy.array_equal(numpy.asarray(moved.cpu()), array)
                    assert numpy.asarray(ttnn.zeros_like(y).cpu()).any() == False
            for dtype, layout in ((ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT), (ttnn.bfloat8_b, ttnn.TILE_LAYOUT)):
                x = ttnn.Tensor([1, -0.5, 2, 3.0, 0, 7], [2, 3], dtype, layout, device)
                assert x.to_list() == [[1.0, -0.5, 2.0], [3.0, 0.0, 7.0]]
            assert numpy.array_equal(numpy.asarray(ttnn.add(ttnn.Tensor(X, device=device), 0.0).cpu()), X)
            assert ttnn.arange(3, 12, 3).to_list() == [3, 6, 9]
            assert ttnn.eye(2, 3).to_list() == [[1, 0, 0], [0, 1, 0]]
            ttnn.manual_seed(3)
            drawn = numpy.asarray(ttnn.rand([64, 64], dtype=ttnn.float32))
            assert 0 <= drawn.min() < 0.01 and 0.99 < drawn.max() < 1
            x = ttnn.full([32, 32], 0.5, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
            jitted = ttnn_jit.jit()(cosh)
            for _ in range(4):
                numpy.testing.assert_allclose(numpy.asarray(jitted(x).cpu()), numpy.cosh(0.5), rtol=1e-6)
        """,
    "what needs torch says so and what does without": """
        device = ttnn.open_device(device_id=0)
        x = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
        missing = "needs torch, which is not installed"
        refused(lambda: ttnn.to_torch(x), "to_torch " + missing, "numpy.asarray(tensor.cpu())")
        refused(x.to_torch, "to_torch " + missing, "numpy.asarray(tensor.cpu())")
        refused(lambda: ttnn.from_torch(X), "from_torch " + missing, "numpy arrays", "ttnn.full")
        refused(lambda: ttnn.as_tensor(X), "from_torch " + missing)
        refused(lambda: ttnn.exp.golden_function(X), "golden_function " + missing)
        refused(lambda: ttnn.pearson_correlation_coefficient(X, X), missing)
        refused(lambda: ttnn.typecast(x.cpu(), ttnn.float32), missing)
        from ttnn_jit import testing
        refused(lambda: testing.assert_allclose(X, X), missing, "numpy.testing")
        refused(lambda: testing.ulp_distance(X, X), missing, "numpy.testing")
        for mistaken in ([1.0], 2.0):
            try:
                ttnn_jit.jit()(cosh)(mistaken)
            except ttnn_jit.diagnostics.errors.ArgumentError as error:
                assert "numpy.array(x, numpy.float32)" in str(error)
        """,
}

RUN = """
import json, sys, traceback

failures = {}
for name, text in json.load(sys.stdin).items():
    try:
        exec(compile(text, name, "exec"), dict(globals()))
        assert "torch" not in sys.modules
    except BaseException:
        failures[name] = traceback.format_exc()
print("FAILURES", json.dumps(failures))
"""


@pytest.fixture(scope="module")
def failures():
    """The exceptions of the programs, by name; all run in one process without torch."""
    programs = {name: textwrap.dedent(text) for name, text in PROGRAMS.items()}
    command = [sys.executable, "-c", WITHOUT_TORCH + RUN]
    done = subprocess.run(command, input=json.dumps(programs), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.rpartition("FAILURES ")[2])


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_package_runs_without_torch(failures, name):
    assert name not in failures, failures[name]


def test_a_broken_torch_is_not_reported_as_absent():
    script = WITHOUT_TORCH.replace('No module named \'torch\'", name="torch"', 'no libtorch", name="libtorch"')
    script += "\nttnn.to_torch(ttnn.ones([2]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ModuleNotFoundError: no libtorch" in done.stderr
    assert "not installed" not in done.stderr
