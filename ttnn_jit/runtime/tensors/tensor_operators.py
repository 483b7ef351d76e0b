"""The base class whose stub, tensor_operators.pyi, declares the operators of tensors for type checkers."""

from __future__ import annotations


class TensorOperators:
    """Empty: `ttnn_jit.ttnn.calling.operators` adds the operators that operations declare."""

    __slots__ = ()
