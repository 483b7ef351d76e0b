"""Cheap constructors produce the results of xDSL's own."""

import math
import struct

import pytest
from xdsl.dialects.builtin import FloatAttr, f32

from ttnn_jit.dialects.builders import f32_attr

OTHER_NAN = struct.unpack("d", struct.pack("Q", 0x7FF8_0000_2000_0000))[0]


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, 0.1, 3e38, math.inf, -math.inf, math.nan, OTHER_NAN])
def test_a_remembered_number_keeps_every_bit(value):
    for _ in range(2):
        assert f32_attr(value) == FloatAttr(value, f32)
