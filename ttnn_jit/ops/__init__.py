"""The registry of operations: what every other room derives its own part from.

An operation is declared once: elementwise ones in `ops/unary.py`, `ops/activations.py`, `ops/predicates.py`,
`ops/binary.py` and `ops/ternary.py`, those that move elements in `ops/data_movement.py` and `ops/padding.py`, what
the IR writes as calls of those in `ops/rearrangements.py` and `ops/heads.py`, those that reduce in
`ops/reductions.py`, products of matrices in `ops/contractions.py`, what is written in terms of others in
`ops/moments.py`, `ops/normalizations.py`, `ops/channel_norms.py`, `ops/products.py` (`linear` too),
`ops/softmaxes.py`, `ops/rotary.py` and `ops/attention.py`, loops of their own in `ops/routines.py`,
`ops/selections.py` and `ops/cache_routines.py`, and draws of random elements in `ops/random_numbers.py`
(docs/adding_an_operation.md). What is written in terms of others says so by its `decompose`, over one protocol
(`ops/decomposition.py`): a *composite* has an op in the dialects, which TTIR decomposes, in float32 and rounded once;
a *macro operation*, gradients among them (`ops/backward.py`), is written by the frontend as the operations that it
calls. Whoever gives `ops` decides what calls leave: specs alone, ops of TTNN, or ops of TTIR.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ttnn_jit.foreign.values import ABSENT as NOTHING
from ttnn_jit.foreign.values import own_attribute
from ttnn_jit.ops.absent import ABSENT, ABSENT_OPERATORS, AbsentOperator
from ttnn_jit.ops.binary import FILL
from ttnn_jit.ops.binding import BoundCall, bind
from ttnn_jit.ops.contraction import Contraction
from ttnn_jit.ops.data_movement import RESHAPE, SLICE, indexed
from ttnn_jit.ops.decomposition import BY_NAME, Composite, MacroOperation
from ttnn_jit.ops.elementwise import Elementwise, Forms, Laws
from ttnn_jit.ops.kinds import Number, are_numbers
from ttnn_jit.ops.movement import Movement
from ttnn_jit.ops.operation import OPERATOR_METHODS, REFLECTED_METHODS, Declaration, Operation, Probe
from ttnn_jit.ops.parameter import Parameter
from ttnn_jit.ops.part_writes import SLICE_WRITE
from ttnn_jit.ops.reduction import Reduction
from ttnn_jit.ops.routine import Routine
from ttnn_jit.ops.sequences import RELAYOUT
from ttnn_jit.ops.typecast import Typecast
from ttnn_jit.specs.tensor_spec import DataType

__all__ = [
    "ABSENT",
    "ABSENT_OPERATORS",
    "ALIASES",
    "CALLABLE",
    "COPY",
    "EAGER",
    "ELEMENTWISE",
    "FILL",
    "FOREIGN_NAMES",
    "GRADIENTS",
    "IN_PLACE",
    "IN_PROGRAMS",
    "OPERATIONS",
    "OPERATOR_METHODS",
    "OVERLOADS",
    "REFLECTED_METHODS",
    "RELAYOUT",
    "RESHAPE",
    "SAME_FUNCTION",
    "SLICE",
    "SLICE_WRITE",
    "SPELLINGS",
    "TYPECAST",
    "AbsentOperator",
    "BoundCall",
    "Composite",
    "Contraction",
    "Declaration",
    "Elementwise",
    "Forms",
    "Laws",
    "MacroOperation",
    "Movement",
    "Number",
    "Operation",
    "Parameter",
    "Probe",
    "Reduction",
    "Routine",
    "Typecast",
    "are_numbers",
    "bind",
    "declared_in",
    "indexed",
    "nearest_names",
    "operations_on",
    "overloads_of",
]

CALLABLE = (
    "unary activations predicates binary ternary bitwise special_functions typecast data_movement padding part_writes "
    "reductions contractions moments gated_units losses softmaxes normalizations rotary channel_norms products "
    "sparse_products routines scans selections rearrangements folds heads attention cached_attention kv_caches "
    "further_reductions integer_division elementwise_calls"
)
"""The modules, of this room, of operations that may be called."""

IN_PROGRAMS = (
    "sequences cache_routines integer_reductions windows convolutions transposed_convolutions pools pool_places "
    "random_numbers embedding_gradient resampling rescaling"
)
"""The modules of operations that functions of the host API stand for; read when a program is compiled."""

GRADIENTS = "backward_binary backward_unary backward_structured"
"""The modules of gradients; read when one is asked for."""


def declared_in(modules: str, name: str = "OPERATIONS") -> tuple[Operation, ...]:
    """What modules of this room declare under a name, of those that have it, in the order of the modules."""
    rooms = (import_module(f"{__name__}.{module}") for module in modules.split())
    return tuple(operation for room in rooms for operation in getattr(room, name, ()))


OPERATIONS = declared_in(CALLABLE)
"""Every operation that may be called, of every family."""

ELEMENTWISE = tuple(operation for operation in OPERATIONS if type(operation) is Elementwise)
"""Those with a body of elements, casts aside."""


def _overloads() -> Mapping[str, tuple[Operation, ...]]:
    table: dict[str, tuple[Operation, ...]] = {}
    for operation in OPERATIONS:
        table[operation.name] = (*table.get(operation.name, ()), operation)
    return table


FOREIGN_NAMES = {"fabs": "abs", "power": "pow", "true_divide": "divide"}
"""What other libraries call an operation -> its name, where the two differ."""

(TYPECAST,) = (operation for operation in OPERATIONS if isinstance(operation, Typecast))
"""The operation whose result is its operand in another element type."""

(COPY,) = (operation for operation in ELEMENTWISE if operation.laws.copies)
"""The operation whose result is its operand."""

OVERLOADS = _overloads()
"""Python name -> the declarations that share it, in order of preference."""
BY_NAME.update(OVERLOADS)

IN_PLACE = {name: OVERLOADS[operation.name] for operation in OPERATIONS for name in operation.names_in_place}
"""Names of ttnn whose call writes its result into an operand -> the declarations of what it computes."""

EAGER = {
    name: overloads
    for name, overloads in OVERLOADS.items()
    if name not in IN_PLACE and not isinstance(overloads[0], Typecast)
}
"""Those of `OVERLOADS` whose eager function is derived; a cast takes tensors on the host too (ttnn/transfers.py)."""

SPELLINGS = {name: operation.name for operation in OPERATIONS for name in operation.spellings}
"""Further names that eager ttnn has for a function -> the name that `@jit` takes."""

ALIASES = SPELLINGS | {alias: operation.name for operation in OPERATIONS for alias in operation.aliases}
"""Further names of eager ttnn, `SPELLINGS` among them -> the name that `@jit` takes."""

SAME_FUNCTION = SPELLINGS | {f"{name}_": f"{meant}_" for name, meant in SPELLINGS.items() if f"{name}_" in IN_PLACE}
"""Name of a function -> the other name that it is made by."""


def operations_on(dtypes: frozenset[DataType]) -> tuple[Elementwise, ...]:
    """The elementwise operations that take all of these element types."""
    return tuple(operation for operation in ELEMENTWISE if dtypes <= operation.dtypes)


def overloads_of(function: Any) -> tuple[Operation, ...] | None:
    """The declarations that an operation of a `ttnn` namespace stands for: ours by itself, the real ttnn's by its name.

    Empty for an operation that has none; None for what is no operation.
    """
    own = own_attribute(function, "__ttnn_overloads__")  # of the object, for a class may answer to any name
    if own is not NOTHING:
        return own  # type: ignore[no-any-return]
    if getattr(function, "__module__", None) != "ttnn.decorators":
        return None
    name = str(getattr(function, "__name__", "")).removeprefix("ttnn.")
    return OVERLOADS.get(name) or IN_PLACE.get(name, ())


def nearest_names(name: str) -> list[str]:
    """Names of operations that `name` may have meant."""
    from ttnn_jit.ops.public_names import names_within_a_slip

    return [ALIASES[name]] if name in ALIASES else names_within_a_slip(name, OVERLOADS)
