"""`tile_op` from a user's point of view: in jitted and eager code, on both backends, never stale."""

from __future__ import annotations

import json
import math
import textwrap

import numpy as np
import pytest
import torch

import ttnn_jit
from tests.processes import run_python
from tests.unit.codegen.programs import assert_same_bits, lowered, native
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.dialects import InvalidModule, parse_module, verify
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops import tile_trace
from ttnn_jit.ops.families import user_operation
from ttnn_jit.testing import assert_allclose, assert_matches_golden

CAP = 3.0


def scaled(x):
    return x / CAP


@ttnn_jit.tile_op(golden=lambda x: 3.0 * torch.tanh(x / 3.0))
def softcap(x):
    """Limits x to (-3, 3), smoothly."""
    return CAP * math.tanh(scaled(x))


@ttnn_jit.tile_op
def steps(x, y):
    """Needs a concrete number, and is therefore compiled by numba."""
    return int(x) + 0.5 * y


def uses_softcap(x):
    return ttnn.add(softcap(x), x)


def uses_steps(x):
    return ttnn.multiply(steps(x, x), 2.0)


def on(device, values):
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("backend", ["ttnn", "numba"])
def test_kernels_and_launches_of_the_host_program_run_together_in_both_frontends(backend, graph_capture):
    jit = ttnn_jit.jit(backend=backend, graph_capture=graph_capture)
    x = 4 * torch.randn(33, 7)
    assert_allclose(jit(uses_softcap)(x), 3 * torch.tanh(x.double() / 3) + x, rtol=1e-6, atol=1e-6)
    assert_allclose(jit(uses_steps)(x), 2 * (x.trunc() + 0.5 * x), rtol=1e-6)


def test_untraced_python_has_the_same_bits_on_both_backends():
    operation = ttnn_jit.tile_op(lambda x: math.exp(x) + int(x) / 3)
    x = 5 * torch.randn(1000)
    ours, theirs = (ttnn_jit.jit(backend=backend)(lambda x: operation(x))(x) for backend in ("ttnn", "numba"))
    assert torch.equal(ours, theirs)


def test_the_report_names_the_traced_operations():
    x = torch.randn(4, 4)
    assert "tile_op softcap: traced, 3 steps" in str(ttnn_jit.jit(uses_softcap).explain(x))
    report = ttnn_jit.jit(uses_steps).explain(x)
    assert report.kernels[0].tile_ops == (
        "steps: compiled by numba, one element at a time, because it takes the `int()` of a value",
    )
    assert report.kernels[0].ops == ("steps", "multiply")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_eager_calls_and_a_fused_kernel_have_the_same_bits_on_a_device(device, dtype):
    x = on(device, (4 * torch.randn(64, 32)).to(dtype))
    for operation, program in ((softcap, uses_softcap), (lambda x: steps(x, x), uses_steps)):
        eager = program(x).to_torch()
        assert torch.equal(ttnn_jit.jit(program)(x).to_torch(), eager)
        assert operation(x).to_torch().dtype == dtype
    assert len(ttnn_jit.jit(uses_softcap).explain(x).kernels) == 1


def test_operands_broadcast_and_may_be_numbers(cpu_device):
    x, row = torch.randn(5, 4), torch.randn(1, 4)
    result = steps(on(cpu_device, x), on(cpu_device, row)).to_torch()
    assert_allclose(result, x.trunc() + 0.5 * row, rtol=1e-6)
    assert_allclose(ttnn_jit.jit(lambda x: steps(x, 2.0))(x), x.trunc() + 1)
    assert_allclose(ttnn_jit.jit(lambda x: steps(y=x, x=2.5))(x), 2 + 0.5 * x)


def test_on_floats_a_tile_operation_is_the_python_function():
    assert softcap(1.5) == 3.0 * math.tanh(0.5)
    assert softcap.__doc__ == "Limits x to (-3, 3), smoothly."


def test_a_golden_is_compared_in_float64(cpu_device):
    x = on(cpu_device, 5 * torch.randn(40, 40))
    assert_matches_golden(softcap, x, max_ulp=4)
    wrong = ttnn_jit.tile_op(golden=lambda x: x + 1)(lambda x: x)
    with pytest.raises(AssertionError, match="ulp"):
        assert_matches_golden(wrong, x)
    with pytest.raises(ValueError, match="without a golden"):
        assert_matches_golden(steps, x, x)


def a_module(program, dtype=torch.float32, target="wormhole_b0"):
    x = torch.zeros(32, 64, dtype=dtype)
    device = ttnn.open_device(device_id=0, target=target)
    text = ttnn_jit.jit(program).ir(on(device, x))
    ttnn.close_device(device)
    return text


@pytest.mark.parametrize("program", [uses_softcap, uses_steps])
@pytest.mark.parametrize("target", ["wormhole_b0", "cpu"])
def test_native_code_and_the_interpreter_have_the_same_bits(program, target):
    module = lowered(parse_module(a_module(program, target=target)))
    x = (4 * np.random.default_rng(0).standard_normal((32, 64))).astype(np.float32)
    (expected,) = interpret(module, [x])
    assert_same_bits(native(module, [x])[0], expected)


def test_the_text_contains_the_body_of_a_traced_operation(monkeypatch):
    text = a_module(uses_softcap)
    body = 'body = "x -> t0 = div(x, 3.0); t1 = tanh(t0); t2 = mul(3.0, t1); return t2", name = "softcap"'
    assert f'"ttnn.tile_op"(%arg0) <{{{body}}}>' in text
    # A process that never saw the function reads it from the text.
    monkeypatch.setattr(user_operation, "_DECLARED", {})
    module = lowered(parse_module(text))
    x = np.linspace(-9, 9, 2048, dtype=np.float32).reshape(32, 64)
    assert_allclose(native(module, [x])[0], 3 * np.tanh(x.astype(np.float64) / 3) + x, rtol=1e-6)


def test_text_with_python_of_another_process_is_refused(monkeypatch):
    text = a_module(uses_steps)
    monkeypatch.setattr(user_operation, "_DECLARED", {})
    with pytest.raises(InvalidModule, match="`steps` is a Python function that this process has not defined"):
        verify(parse_module(text))


def test_every_stage_of_a_tile_operation_prints_and_parses():
    jitted = ttnn_jit.jit(uses_softcap)
    for stage in ("convert-ttnn-to-ttir", "d2m-generic-fusion", "d2m-insert-dst-register-access"):
        text = jitted.ir(torch.ones(4, 4), stage=stage)
        assert '.tile_op"' in text
        verify(parse_module(text))


def test_a_traced_operation_becomes_the_kernel_of_the_built_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = torch.ones(4, 4)
    own = ttnn_jit.tile_op(lambda x: math.tanh(x))
    kernels = [
        ttnn_jit.jit(compile_only=True)(program)(x).plan.kernels
        for program in (lambda x: ttnn.tanh(x), lambda x: own(x))
    ]
    assert kernels[0] == kernels[1]


def test_an_operation_is_traced_once_while_its_reads_do_not_change(monkeypatch):
    traced, real = [], tile_trace.trace
    monkeypatch.setattr(tile_trace, "trace", lambda *arguments: traced.append(arguments) or real(*arguments))
    operation = ttnn_jit.tile_op(lambda x: x * CAP)
    assert operation.operation is operation.operation
    monkeypatch.setitem(globals(), "CAP", 4.0)
    assert operation.operation is operation.operation
    assert len(traced) == 2


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_changed_global_body_or_helper_is_detected_at_the_next_call(cpu_device, graph_capture, monkeypatch):
    x = torch.full((2, 2), 6.0)
    tensor = on(cpu_device, x)
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(uses_softcap)

    def now():
        assert torch.equal(jitted(x), softcap(tensor).to_torch() + x)
        return round(float(jitted(x)[0, 0]) - 6.0, 4)

    assert now() == round(3 * math.tanh(2), 4)
    monkeypatch.setitem(globals(), "CAP", 4.0)
    assert now() == round(4 * math.tanh(1.5), 4)
    monkeypatch.setitem(globals(), "scaled", lambda x: x / 12)
    assert now() == round(4 * math.tanh(0.5), 4)
    monkeypatch.setattr(softcap.func, "__code__", (lambda x: x * 2).__code__)
    assert now() == 12.0
    monkeypatch.undo()
    assert now() == round(3 * math.tanh(2), 4)


def test_a_changed_global_of_untraced_code_is_detected(cpu_device, monkeypatch):
    monkeypatch.setitem(globals(), "WEIGHT", 1.0)
    operation = ttnn_jit.tile_op(lambda x: int(x) * WEIGHT)  # noqa: F821 - set above
    jitted = ttnn_jit.jit(lambda x: operation(x))
    x = torch.full((2, 2), 2.5)
    assert jitted(x)[0, 0] == operation(on(cpu_device, x)).to_torch()[0, 0] == 2
    monkeypatch.setitem(globals(), "WEIGHT", 3.0)
    assert jitted(x)[0, 0] == operation(on(cpu_device, x)).to_torch()[0, 0] == 6


def test_a_redefinition_under_the_same_name_is_another_operation():
    def made(factor):
        @ttnn_jit.tile_op
        def same(x):
            return factor * x

        return same

    double, triple = made(2.0), made(3.0)
    jitted = ttnn_jit.jit(graph_capture=True)(lambda x: ttnn.add(double(x), triple(x)))
    assert torch.equal(jitted(torch.ones(3)), torch.full((3,), 5.0))


def test_an_operation_may_be_an_argument():
    apply = ttnn_jit.jit(lambda x, op: op(x))
    x = torch.ones(3)
    assert torch.equal(apply(x, softcap), ttnn_jit.jit(lambda x: softcap(x))(x))
    assert torch.equal(apply(x, ttnn.neg), -x)


@pytest.mark.parametrize("graph_capture", [False, True])
def test_an_argument_operation_is_keyed_by_its_body(graph_capture, monkeypatch):
    apply = ttnn_jit.jit(graph_capture=graph_capture)(lambda x, op: op(x))
    x = torch.full((2, 2), 6.0)

    def compiled():
        before = ttnn_jit.cache_info().compiles
        result = apply(x, softcap)
        return round(float(result[0, 0]), 4), ttnn_jit.cache_info().compiles - before

    assert compiled() == (round(3 * math.tanh(2), 4), 1)
    assert compiled() == (round(3 * math.tanh(2), 4), 0)
    monkeypatch.setitem(globals(), "CAP", 4.0)
    assert compiled() == (round(4 * math.tanh(1.5), 4), 1)
    assert compiled() == (round(4 * math.tanh(1.5), 4), 0)
    monkeypatch.undo()
    assert compiled() == (round(3 * math.tanh(2), 4), 0)
    assert apply.num_entries == 2


@pytest.mark.parametrize("graph_capture", [False, True])
def test_on_disk_too_an_argument_operation_is_keyed_by_its_body(graph_capture):
    x = torch.full((2, 2), 6.0)

    def applied(factor):
        @ttnn_jit.tile_op
        def scaled_by(x):
            return factor * x

        return float(ttnn_jit.jit(graph_capture=graph_capture)(lambda x, op: op(x))(x, scaled_by)[0, 0])

    assert [applied(2.0), applied(3.0), applied(2.0)] == [12.0, 18.0, 12.0]
    assert ttnn_jit.cache_info().disk_hits >= 1


def test_a_traced_operation_has_one_formula_on_every_target(device, cpu_device):
    own = ttnn_jit.tile_op(lambda x: 2.0 * ttnn.digamma(x))
    x = torch.linspace(2, 9, 1024).reshape(32, 32)
    for each_device in (device, cpu_device):
        tensor = on(each_device, x)
        expected = 2 * ttnn.digamma(tensor).to_torch()
        assert torch.equal(own(tensor).to_torch(), expected)
        for backend in ("ttnn", "numba"):
            jitted = ttnn_jit.jit(backend=backend)(lambda x: own(x))
            assert_allclose(jitted(tensor).to_torch(), expected, rtol=1e-6)
    assert torch.equal(own(on(device, x)).to_torch(), own(on(cpu_device, x)).to_torch())


def test_python_that_raises_or_that_numba_refuses_is_an_error_at_its_definition():
    def raising(x):
        if int(x) > 1:
            raise ValueError
        return x

    with pytest.raises(CompileError, match="raises an exception, which an element of a tensor cannot") as failure:
        ttnn_jit.jit(lambda x: operation(x))(torch.ones(2)) if (operation := ttnn_jit.tile_op(raising)) else None
    assert failure.value.location.line == raising.__code__.co_firstlineno + 2
    refused = ttnn_jit.tile_op(lambda x: len({int(x): object()}))
    with pytest.raises(CompileError, match=r"can neither be traced, because .* nor compiled by numba"):
        ttnn_jit.jit(lambda x: refused(x))(torch.ones(2))


@pytest.mark.parametrize("function", [lambda: 1.0, lambda *_: 1.0, lambda x=1.0: x, lambda *, x: x])
def test_a_function_without_operands_by_position_is_refused(function):
    with pytest.raises(ArgumentError, match="must take one float or more"):
        ttnn_jit.tile_op(function)


def test_only_python_functions_are_taken():
    with pytest.raises(ArgumentError, match="takes a Python function"):
        ttnn_jit.tile_op(math.exp)


SCRIPT = """
    import json
    import math
    import sys
    import numpy
    import ttnn_jit
    from ttnn_jit import ttnn

    CAP = 3.0

    @ttnn_jit.tile_op
    def softcap(x):
        return CAP * math.tanh(x / CAP)

    @ttnn_jit.tile_op
    def steps(x):
        return int(x) * CAP

    @ttnn_jit.jit()
    def program(x):
        return ttnn.add(softcap(x), steps(x))

    print(program(numpy.arange(6, dtype=numpy.float32)).tolist())
    print(json.dumps([ttnn_jit.cache_info().compiles, "numba" in sys.modules, "xdsl" in sys.modules]))
"""


@pytest.mark.process
@pytest.mark.slow
def test_a_second_process_compiles_nothing_and_a_changed_global_compiles_anew(tmp_path):
    script = tmp_path / "model.py"

    def run(text):
        script.write_text(textwrap.dedent(text))
        values, facts = run_python(script, check=True).stdout.splitlines()
        return values, json.loads(facts)

    first, second, changed = run(SCRIPT), run(SCRIPT), run(SCRIPT.replace("CAP = 3.0", "CAP = 4.0"))
    assert first[1] == [1, True, True]
    assert second == (first[0], [0, False, False])
    assert changed[1][0] == 1
    assert changed[0] != first[0]


A, B = torch.tensor([[0.3, 0.7, 1.5, 2.5]]), torch.tensor([[0.5, 1.25, 2.0, 0.75]])
NUMBERS = (float, int, np.floating, np.integer, np.bool_)


def functions_of_floats():
    """Every function of math and numpy that takes one float, or two, and returns a number."""
    for module in (math, np):
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name[0] == "_" or not (isinstance(function, np.ufunc) or (module is math and callable(function))):
                continue
            for operands in ((A,), (A, B)):
                try:
                    with np.errstate(all="ignore"):
                        values = [function(*map(float, column)) for column in torch.cat(operands).T]
                except (TypeError, ValueError):
                    continue
                if all(isinstance(value, NUMBERS) for value in values):
                    yield pytest.param(function, operands, values, id=f"{module.__name__}.{name}-{len(operands)}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "operands", "values"), list(functions_of_floats()))
def test_a_function_of_math_or_numpy_is_what_it_is_on_floats_or_refused_by_name(function, operands, values, cpu_device):
    body = (lambda x: function(x)) if len(operands) == 1 else (lambda x, y: function(x, y))
    operation = ttnn_jit.tile_op(body)
    try:
        result = operation(*(ttnn.from_torch(operand, device=cpu_device) for operand in operands))
    except CompileError as error:
        refused = error.message
    else:
        refused = ""
    if refused:
        assert "can neither be traced, because" in refused
        assert function.__name__ in REFUSED_FUNCTIONS
        return
    assert_allclose(result, torch.tensor([list(map(float, values))], dtype=torch.float64), rtol=1e-5, atol=1e-6)
    assert function.__name__ not in REFUSED_FUNCTIONS or len(operands) == 2


REFUSED_FUNCTIONS = {"gamma", "hypot", "ulp", "remainder", "heaviside", "nextafter", "spacing"}


@pytest.mark.parametrize("base", [2, 10.0, math.e])
def test_the_logarithm_to_a_base_is_traced(cpu_device, base):
    operation = ttnn_jit.tile_op(lambda x: math.log(x, base))
    assert operation.operation.source.startswith("traced")
    assert_allclose(operation(ttnn.from_torch(A, device=cpu_device)), A.double().log() / math.log(base), max_ulp=4)


def test_up_to_64_paths_are_traced_and_more_are_not():
    def forks(count):
        def fork(x):
            for k in range(count):
                if x > k:
                    x = x * 1.5
            return x

        return ttnn_jit.tile_op(fork).operation.source

    assert forks(6).startswith("traced")
    assert forks(7) == "compiled by numba, one element at a time, because its branches make more than 64 paths"


def test_a_call_cannot_set_a_constant_of_the_operation(cpu_device):
    operation = ttnn_jit.tile_op(lambda x, scale=2.0: x * scale)
    x = ttnn.from_torch(A, device=cpu_device)
    assert_allclose(operation(x), 2 * A)
    for call in (lambda: operation(x, 3.0), lambda: operation(x, scale=3.0)):
        with pytest.raises(ArgumentError, match="parameters with a default are fixed where it is defined"):
            call()


def test_a_function_that_reads_unguarded_values_is_compiled_at_each_call(cpu_device):
    class Mutable:
        scale = 2.0

    settings = Mutable()
    operation = ttnn_jit.tile_op(lambda x: x * settings.scale)
    x = ttnn.from_torch(A, device=cpu_device)
    for settings.scale in (2.0, 3.0, 4.0):
        assert_allclose(operation(x), settings.scale * A.double(), max_ulp=1)


def test_a_parameter_with_a_default_is_fixed_where_the_operation_is_defined():
    scaled = ttnn_jit.tile_op(lambda x, slope=0.1: x * slope)
    with ttnn.open_device(device_id=0) as device, pytest.raises(ArgumentError, match=r"(?s)no argument `slope`.*fixed"):
        scaled(ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device), slope=0.3)
