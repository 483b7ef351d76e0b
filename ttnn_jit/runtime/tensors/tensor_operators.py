"""The base of tensors that a type checker finds their operators in: tensor_operators.pyi lists them."""

from __future__ import annotations


class TensorOperators:
    """Empty: `ttnn_jit.ttnn.calling.operators` gives tensors the operators that operations declare."""

    __slots__ = ()
