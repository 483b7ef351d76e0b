"""Tells the texts of other compilers from the dumps of stages."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import parse_module, verify
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.ttcore import SYSTEM_DESC, SystemDescAttr
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.frontend.ir.texts import parse_texts

_DIALECTS = frozenset(
    {"builtin", "func", "ttcore", "ttir", "ttnn", "tensor", "stablehlo", "chlo", "sdy", "tosa", "vhlo", "arith"}
)
"""The dialects that texts of functions of tensors consist of."""
_LATER_OPS = frozenset({"ttnn.generic"})
"""Ops of launches, which the last stage makes."""


def is_of_other_compiler(text: str, name: str) -> bool:
    """Whether a text holds functions of tensors, and is no dump that the stages here accept as it is."""
    return is_of_tensors(text, name) and not _is_dump(text, name)


def is_of_kernels(text: str) -> bool:
    """Whether a text holds kernels of cores."""
    return "ttkernel." in text


def is_of_tensors(text: str, name: str) -> bool:
    """Whether a text holds functions of tensors alone."""
    try:
        modules = parse_texts(text, name)
    except CompileError:
        return False  # the reader of dumps reports what is wrong
    return all(_is_tensor_op(op) for module in modules for op in module.walk())


def _is_dump(text: str, name: str) -> bool:
    try:
        module = parse_module(text, name)
        if isinstance(module.attributes.get(SYSTEM_DESC), SystemDescAttr):
            return True  # a text of this compiler, whose errors are those of its own verifier
        verify(module)
    except CompileError:
        return False
    types = (each.type for op in module.walk() for each in (*op.operands, *op.results))
    return all(isinstance(each.encoding, TTNNLayoutAttr) for each in types if isinstance(each, TensorType))


def _is_tensor_op(op: Operation) -> bool:
    name = name_of(op)
    return name.partition(".")[0] in _DIALECTS and name not in _LATER_OPS
