"""Texts of tests: how they run beside their goldens, and what passes leave of them."""

import re

import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.frontend.ir.texts import entries_of, parse_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.texts.inputs import draw_inputs
from ttnn_jit.tools.texts.run_text import mesh_of
from ttnn_jit.transforms import pipeline


def loaded(text, mesh=None):
    (module,) = parse_texts(text, "text.mlir")
    return TextModule(module, PRESETS["cpu"], mesh_of(mesh, module))


def ran(text, inputs=None):
    """The results of the one entry of a text, each op of which is its golden."""
    module = loaded(text)
    (entry,) = entries_of(module.module)
    program = module.program(entry)
    given = draw_inputs(module.functions[entry], program.arguments, 0) if inputs is None else inputs
    results = program(*given)
    wrong = [each for each in GoldenRun(module, entry, given).compared() if not each.matches]
    assert not wrong, (wrong[0].op.name, wrong[0].failures)
    return given, results


def converted(text, passes="stablehlo-to-ttir-pipeline"):
    """What a pass leaves of a text, valid by the tables' rules."""
    (module,) = parse_texts(text, "text.mlir")
    pipeline.run_passes(module, pipeline.parse_passes(passes))
    found = op_text(module)
    verify_upstream(parse_upstream(found))
    return found


def assert_runs_alike(text, passes="stablehlo-to-ttir-pipeline"):
    inputs, results = ran(text)
    found = converted(text, passes)
    assert not re.search(r"\b(stablehlo|chlo|tosa)\.", found)
    for own, other in zip(results, ran(found, inputs)[1], strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=0, equal_nan=True)


def of_ops(arguments, lines, result):
    names = ", ".join(f"%{name}: tensor<{kind}>" for name, kind in arguments.items())
    body = "\n  ".join(lines)
    return f"func.func @main({names}) -> tensor<{result}> {{\n  {body}\n  return %out : tensor<{result}>\n}}"
