"""The docstrings of eager operations, made of their declarations."""

from __future__ import annotations

from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.routine import Routine
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.specs.dtypes import WIDE, DataType

_COMMON = """Block floats are accepted wherever BFLOAT16 is.

Every operation takes these keywords too, each None when omitted:
    memory_config, output_mem_config: Memory config of the result; that of the first tensor when omitted.
    dtype: Element type of the result, unless the declaration above defines it.
    output_tensor, optional_output_tensor: The tensor that receives the result, and is returned.
    activations: Unary functions that are applied to the result, each by name or as a callable.
Keywords that choose among ways to compute the same on a chip (`program_config`, `core_grid` ...) change nothing.

Raises:
    CompileError: Shapes, element types or attributes that do not fit the operation.
    ArgumentError: A tensor is on the host or on another device, or an argument has the wrong type.
    ShapeError: `output_tensor` does not have the spec of the result.
    DeallocatedError: A tensor was deallocated.
    GridError, L1CapacityError, DramCapacityError: The result does not fit into its memory config."""


def documentation(overloads: tuple[Operation, ...]) -> str:
    """The docstring of an operation: what each overload computes, and what all operations have in common."""
    paragraphs = []
    for operation in overloads:
        dtypes = ", ".join(sorted(dtype.name for dtype in operation.dtypes - _of_texts(operation)))
        paragraphs.append(
            f"``ttnn.{operation.signature}``: {operation.summary}\n\n"
            f"{operation.rules} Dtypes: {dtypes}. Semantics: {operation.source}."
        )
        paragraphs.extend(f"As in ttnn: {each}" for each in operation.vendor_quirks)
    return "\n\n".join((*paragraphs, _COMMON))


def _of_texts(operation: Operation) -> frozenset[DataType]:
    """The element types with which only texts of other compilers call an operation."""
    of_texts = frozenset(dtype for dtype in operation.dtypes if dtype.traits.is_of_texts)
    is_narrow = isinstance(operation, Elementwise | Routine) and operation.wide_in_texts
    return of_texts | WIDE if is_narrow else of_texts
