"""Programs that several tests compile, as the ttnn.jit document writes them."""

from __future__ import annotations

from typing import Any

from ttnn_jit import ttnn


def cosh(input_tensor: Any) -> Any:
    e_pos_x = ttnn.exp(input_tensor)
    e_neg_x = ttnn.exp(ttnn.neg(input_tensor))
    nr_term = ttnn.add(e_pos_x, e_neg_x)
    return ttnn.multiply(nr_term, 0.5)


def unary_chain(input_tensor: Any) -> Any:
    res_0 = ttnn.abs(input_tensor)
    res_1 = ttnn.sin(res_0)
    res_2 = ttnn.neg(res_1)
    return ttnn.exp(res_2)


def add_tree_8_to_1(in0: Any, in1: Any, in2: Any, in3: Any, in4: Any, in5: Any, in6: Any, in7: Any) -> Any:
    add_0_0 = ttnn.add(in0, in1)
    add_0_1 = ttnn.add(in2, in3)
    add_0_2 = ttnn.add(in4, in5)
    add_0_3 = ttnn.add(in6, in7)
    add_1_0 = ttnn.add(add_0_0, add_0_1)
    add_1_1 = ttnn.add(add_0_2, add_0_3)
    return ttnn.add(add_1_0, add_1_1)


def add_mul_exp_sigmoid(a: Any, b: Any) -> Any:
    return ttnn.sigmoid(ttnn.exp(ttnn.multiply(ttnn.add(a, b), 0.25)))
