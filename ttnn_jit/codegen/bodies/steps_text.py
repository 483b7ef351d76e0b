"""Steps of a body as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.codegen.bodies.steps import Accumulate, Apply, Cast, Constant, Load, LookUp, Product, Step, Store


def steps_text(steps: Sequence[Step], numbers: Sequence[int]) -> Iterator[str]:
    """The steps of a body whose stream k is number ``numbers[k]``."""
    for index, step in enumerate(steps):
        if isinstance(step, Store):
            yield f"store t{step.operand} to s{numbers[step.stream]}"
        else:
            yield f"t{index} = {_value(step, numbers)}"


def _value(step: Load | Cast | LookUp | Accumulate | Product | Apply, numbers: Sequence[int]) -> str:
    match step:
        case Load():
            return f"load s{numbers[step.stream]}"
        case Cast():
            return f"cast t{step.operand} : {step.dtype.mlir}"
        case LookUp():
            return f"look up t{step.operand}"
        case Accumulate():
            return f"{step.tile_name} of t{step.operand}"
        case Product():
            how = f", {step.multiplication}" if step.multiplication else ""
            return f"t{step.left} times t{step.right}, added up along the reduced loop{how}"
        case Apply():
            values = ", ".join(f"{each.value:g}" if isinstance(each, Constant) else f"t{each}" for each in step.values)
            return f"{step.tile_name} {values} : {step.dtype.mlir}"
