"""What the caller of an eager operation asks of its result, by keyword."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops import HARDWARE_PARAMETERS, OPERAND_PARAMETERS, RESULT_PARAMETERS, BoundCall, Elementwise
from ttnn_jit.ops.applied_unary import AppliedUnary, activation_of, activations_of
from ttnn_jit.ops.operation import OUTPUT_KEYWORDS, PLACE_KEYWORDS, OperandSpec
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.tensor import Tensor, check_tensor
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig

if TYPE_CHECKING:
    from ttnn_jit.compiler.request import ResultPlacement
    from ttnn_jit.runtime.program import Program


@dataclass(frozen=True)
class ResultKeywords:
    """What the caller of an eager operation asks of its result.

    Attributes:
        memory_config: Where it lies; None: where the first tensor does.
        dtype: Its element type, rounded to once; None: as the declaration says.
        output_tensor: The tensor to write into and return.
        activations: Unary operations to apply before the one rounding of the call.
        operand_activations: Those to apply to the first operand and to the second, before the operation.
    """

    memory_config: MemoryConfig | None
    dtype: DataType | None
    output_tensor: Tensor | None
    activations: tuple[AppliedUnary, ...]
    operand_activations: tuple[tuple[AppliedUnary, ...], ...] = ()


NO_KEYWORDS = ResultKeywords(None, None, None, ())
"""Nothing is asked of a result."""


def result_keywords(
    name: str, kwargs: Mapping[str, Any], own_names: Container[str]
) -> tuple[dict[str, Any], ResultKeywords | None]:
    """The declaration's keywords, `own_names` among them, and what is asked of the result, if anything is."""
    own = dict(kwargs)
    found = {
        each.name: each.kind.bind(own.get(each.name), None, f"`{each.name}`")
        for each in (*RESULT_PARAMETERS, *OPERAND_PARAMETERS, *HARDWARE_PARAMETERS)
    }
    own = {key: value for key, value in own.items() if key not in found or key in own_names}
    fused = getattr(found["program_config"], "fused_activation", None)
    activations = activations_of(name, "activations", found["activations"])
    activations = activations if fused is None else (*activations, activation_of(fused))
    applied = tuple(activations_of(name, each.name, found[each.name]) for each in OPERAND_PARAMETERS)
    of_operands = applied if any(applied) else ()
    output, config = (_one_of(name, names, found) for names in (OUTPUT_KEYWORDS, PLACE_KEYWORDS))
    if output is not None:
        check_tensor(output, f"{name}: `output_tensor`")
    if output is config is found["dtype"] is None and not activations and not of_operands:
        return own, None
    return own, ResultKeywords(config, found["dtype"], output, activations, of_operands)


def _one_of(name: str, names: Sequence[str], found: Mapping[str, Any]) -> Any:
    """What is given for an argument that has two names; None if nothing is."""
    given = [found[each] for each in names if found[each] is not None]
    if len(given) > 1:
        raise ArgumentError(f"{name}: {' and '.join(f'`{each}`' for each in names)} are two names of one argument")
    return given[0] if given else None


def check_operands(name: str, bound: BoundCall, wanted: ResultKeywords) -> None:
    """Refuse activations of operands that the operation does not have, or does not compute with."""
    takes = isinstance(bound.operation, Elementwise) and bound.operation.arity > 1
    for place, activations in enumerate(wanted.operand_activations):
        is_tensor = takes and isinstance(bound.operands[place], Tensor)
        if activations and not is_tensor:
            raise ArgumentError(
                f"{name}: `{OPERAND_PARAMETERS[place].name}` applies to a tensor of an elementwise operation of two",
                help="apply the operation yourself, before the call",
            )


def placement_of(name: str, wanted: ResultKeywords, first: Tensor) -> ResultPlacement:
    """What is asked of the result."""
    from ttnn_jit.compiler.request import ResultPlacement

    output, config = wanted.output_tensor, wanted.memory_config
    if output is None:
        return ResultPlacement(config, wanted.dtype, wanted.activations, wanted.operand_activations)
    if config and config.names_no_cores and config.memory_layout is output.memory_config().memory_layout:
        config = None
    if output.device() is not first.device():
        raise ArgumentError(f"{name}: `output_tensor` does not lie on {first.device()}")
    for keyword, asked, has in (
        ("memory_config", config, output.memory_config()),
        ("dtype", wanted.dtype, output.dtype),
    ):
        if asked is not None and asked != has:
            raise ArgumentError(f"{name}: `{keyword}` and `output_tensor` disagree: {asked} and {has}")
    return ResultPlacement(output.memory_config(), output.dtype, wanted.activations, wanted.operand_activations)


def check_output(
    name: str, output: Tensor, program: Program | None, bound: BoundCall, placement: ResultPlacement
) -> None:
    """Refuse an `output_tensor` that is gone, or that the result does not fit, or is one of several."""
    output.memory(name)
    if not bound.operation.gives_one_tensor:
        raise ArgumentError(
            f"{name} gives several tensors, and `output_tensor` is one",
            help="leave it out, and copy each result where it is to lie: `ttnn.copy`",
        )
    if program is None:
        (by_rule,) = bound.operation.results(specs_of(bound), bound.attributes)
        expected = by_rule.with_(dtype=placement.dtype, memory_config=placement.memory_config)
    else:
        expected = program.plan.outputs[0]
    if output.spec is not expected:
        raise ShapeError(f"{name}: `output_tensor` is {output.spec}, the result {expected}")


def specs_of(bound: BoundCall) -> tuple[OperandSpec, ...]:
    """The operands of a call, with specs for the tensors."""
    return tuple(value.spec if isinstance(value, Tensor) else value for value in bound.operands)
