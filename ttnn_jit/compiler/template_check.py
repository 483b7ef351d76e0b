"""The check of a template by another compile, at a second size that it serves.

Where the guards of a template hold, every comparison of its compile has the same result. So the compile at a second
size makes the same template, unless a number that depends on sizes was taken for a fixed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.compiler.hidden_symbols import ReopenedSymbols
from ttnn_jit.compiler.request import Request
from ttnn_jit.compiler.template import CompiledTemplate, Template, sizes_of, trace_template
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.runtime.plans.plan import ProgramPlan


def check_by_another_compile(compiled: CompiledTemplate, request: Request, plan: ProgramPlan) -> None:
    """Compile a template once more, for a call that it serves, without code.

    Args:
        compiled: The template.
        request: The call.
        plan: The plan that the template has for it.

    Raises:
        InternalError: The template or the plan is another one.
    """
    hidden = ReopenedSymbols(compiled.template.symbols, compiled.hidden, sizes_of(request))
    again = trace_template(request, hidden.symbols, hidden, assembles=False)
    different = ["symbols"] if again is None else [*_differences(compiled.template, again.template)]
    if again is not None and again.template.plan.example.text() != plan.text():
        different.append("plan")
    if different:
        raise InternalError(
            f"the program of {request.name} for many sizes, which was compiled for one size, and a compile for sizes "
            f"{[*map(list, sizes_of(request))]} have other {' and '.join(different)}",
            help="please report it; `@ttnn_jit.jit(dynamic=False)` compiles each size by itself",
        )


def _differences(one: Template, other: Template) -> list[str]:
    """The parts in which two templates differ; their examples are of different sizes."""
    parts: dict[str, tuple[Any, Any]] = {
        "symbols": (one.symbols.numbers, other.symbols.numbers),
        "numbers": (one.formulas.atoms, other.formulas.atoms),
        "conditions": (one.formulas.guards, other.formulas.guards),
        "places": (_places(one), _places(other)),
        "fixed sizes": (one.specialized, other.specialized),
    }
    return [name for name, (own, others) in parts.items() if own != others]


def _places(template: Template) -> Sequence[Any]:
    plan = template.plan
    return plan.numbers, plan.inputs, plan.specs, plan.launches, plan.constants, plan.exchanges
