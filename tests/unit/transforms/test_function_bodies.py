"""What may go from a function's body."""

import pytest
from xdsl.traits import is_side_effect_free

from ttnn_jit.dialects import context
from ttnn_jit.dialects.creation import create
from ttnn_jit.transforms.function_bodies import has_no_effects


@pytest.mark.parametrize("cls", list(context().loaded_ops), ids=lambda cls: cls.name)
def test_an_op_has_no_effects_if_xdsl_says_so(cls):
    op = create(cls)
    assert has_no_effects(op) == is_side_effect_free(op)
