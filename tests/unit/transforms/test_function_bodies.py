"""Ops that may be removed from a function's body."""

from xdsl.traits import is_side_effect_free

from ttnn_jit.dialects import context
from ttnn_jit.dialects.writing.creation import create
from ttnn_jit.transforms.function_bodies import has_no_effects


def test_an_op_has_no_effects_if_xdsl_says_so():
    made = [create(cls) for cls in context().loaded_ops]
    found = {op.name: has_no_effects(op) for op in made}
    assert found == {op.name: is_side_effect_free(op) for op in made}
    assert {*found.values()} == {True, False}
