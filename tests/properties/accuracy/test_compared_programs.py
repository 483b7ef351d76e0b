"""Random programs inside a session: their results are those without it, and every operation inside is compared."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.loops.test_random_layer_programs import function_of, programs
from ttnn_jit import jit, ttnn
from ttnn_jit.golden.comparison_records import from_json_line, to_json_line
from ttnn_jit.sessions import Mode, Status, session


def drawn(shapes, seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) / (shape[0] ** 0.5 if len(shape) == 2 else 1) for shape in shapes]


@settings(max_examples=24, deadline=None)
@given(program=programs(), seed=st.integers(0, 99))
def test_a_session_changes_no_result_and_compares_every_operation(program, seed):
    source, shapes = program
    tensors = drawn(shapes, seed)
    jitted = jit()(function_of(source, ttnn))
    expected = [each.clone() for each in jitted(*(x.clone() for x in tensors))]
    with session() as report:
        got = jitted(*(x.clone() for x in tensors))
    assert all(torch.equal(*pair) for pair in zip(got, expected, strict=True))
    assert [each for each in report if each.status is not Status.OK] == [], source
    assert len(report.by_mode(Mode.WHOLE)) == len(got)
    assert len(report.by_mode(Mode.ISOLATED)) == len(report.by_mode(Mode.ACCUMULATED)) >= source.count("\n    v") > 0
    lines = {each.location.split(":")[-2] for each in report.by_mode(Mode.ISOLATED)}
    assert len(lines) == source.count("\n    v")  # each line of the program
    assert [from_json_line(to_json_line(each)) for each in report] == report.records
