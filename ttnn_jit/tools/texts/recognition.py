"""Tells the texts of other compilers from the dumps of stages."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import parse_module, system_desc_of, verify
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.ttcore import SYSTEM_DESC, SystemDescAttr
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.frontend.ir.d2m_lowering import D2M_OPS
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.tools.opt import module_of_text

_DIALECTS = frozenset(
    {"builtin", "func", "ttcore", "ttir", "ttnn", "tensor", "stablehlo", "chlo", "sdy", "tosa", "vhlo", "arith"}
)
"""The dialects that texts of functions of tensors consist of."""
_LAYOUT = "#ttnn.ttnn_layout<"
_LATER_OPS = frozenset({"ttnn.generic"})
"""Ops of launches, which the last stage makes."""
_OF_HOST = "llvm"
"""The dialect of functions of the host's module."""


def is_of_other_compiler(text: str, name: str) -> bool:
    """Whether a text holds functions of tensors, and is no dump that the stages here accept as it is."""
    return is_of_tensors(text, name) and not _is_dump(text, name)


def target_of_dump(text: str, name: str) -> SystemDesc | None:
    """The target of a text that the stages here accept as it is; None for a text of another compiler."""
    if _LAYOUT not in text or not _is_dump(text, name):  # every tensor of a dump has a layout
        return None
    return system_desc_of(parse_module(text, name))


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


def module_of_dump(text: str, name: str) -> ModuleOp:
    """The verified module of a text that is read as one of this compiler.

    Raises:
        CompileError: It is none. Of a text of another compiler that reader's error, or its first op that is not run.
    """
    try:
        return module_of_text(text, name)
    except CompileError as error:
        if _OWN_SYSTEM in text:
            raise
        is_unknown = "registered" in error.message
        try:
            modules = parse_texts(text, name)
        except CompileError as other:
            if is_unknown or _place(other) >= _place(error):
                raise other from None
            raise error from None
        foreign = next((op for module in modules for op in module.walk() if not _is_tensor_op(op)), None)
        if foreign is None or not is_unknown:
            raise
        raise CompileError(
            f"`{name_of(foreign)}` is no op of a function of tensors, and no stage of this compiler makes it",
            location=location_of(foreign),
            help="`ttmlir-opt` reads and prints such texts",
        ) from None


_OWN_SYSTEM = "#ttcore.system_desc<{"
"""What every dump of this compiler holds, and no text of another one."""


def _place(error: CompileError) -> tuple[int, int]:
    return (0, 0) if error.location is None else (error.location.line, error.location.column)


def _is_dump(text: str, name: str) -> bool:
    try:
        module = parse_module(text, name)
        if isinstance(module.attributes.get(SYSTEM_DESC), SystemDescAttr):
            return True  # a text of this compiler, whose errors are those of its own verifier
        verify(module)
    except CompileError:
        return False
    types = [each.type for op in module.walk() for each in (*op.operands, *op.results)]
    functions = [op.function_type for op in module.walk() if isinstance(op, FuncOp)]
    types += [each for kind in functions for each in (*kind.inputs, *kind.outputs)]
    return all(isinstance(each.encoding, TTNNLayoutAttr) for each in types if isinstance(each, TensorType))


def _is_tensor_op(op: Operation) -> bool:
    name = name_of(op)
    dialect = name.partition(".")[0]
    if dialect == _OF_HOST:
        return _is_in_host_module(op)
    return (dialect in _DIALECTS and name not in _LATER_OPS) or name in D2M_OPS


def _is_in_host_module(op: Operation) -> bool:
    parent = op.parent_op()
    return parent is not None and (name_of(parent) == "ttcore.cpu_module" or _is_in_host_module(parent))
