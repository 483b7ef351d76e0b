"""The registry of operations: what every other room derives its own part from.

An operation is declared once: elementwise ones in `ops/elementwise/unary.py`, `ops/elementwise/activations.py`,
`ops/elementwise/predicates.py`, `ops/elementwise/binary.py` and `ops/elementwise/ternary.py`, those that move elements
in `ops/movement/data_movement.py` and `ops/movement/padding.py`, what the IR writes as calls of those in
`ops/movement/rearrangements.py` and `ops/movement/heads.py`, those that reduce in `ops/reduction/reductions.py`,
products of matrices in `ops/contraction/contractions.py`, what is written in terms of others in
`ops/reduction/moments.py`, `ops/normalization/normalizations.py`, `ops/normalization/channel_norms.py`,
`ops/contraction/products.py` (`linear` too), `ops/normalization/softmaxes.py`, `ops/attention/rotary.py` and
`ops/attention/attention.py`, loops of their own in `ops/selection/routines.py`, `ops/selection/selections.py` and
`ops/attention/cache_routines.py`, and draws of random elements in `ops/selection/random_numbers.py`
(docs/adding_an_operation.md). What is written in terms of others says so by its `decompose`, over one protocol
(`ops/families/decomposition.py`): a *composite* has an op in the dialects, which TTIR decomposes, in float32 and
rounded once; a *macro operation*, gradients among them (`ops/gradients/backward.py`), is written by the frontend as the
operations that it calls. Whoever gives `ops` decides what calls leave: specs alone, ops of TTNN, or ops of TTIR.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ttnn_jit.foreign.values import ABSENT as NOTHING
from ttnn_jit.foreign.values import own_attribute
from ttnn_jit.ops.absent import ABSENT, ABSENT_OPERATORS, AbsentOperator
from ttnn_jit.ops.elementwise.binary import FILL
from ttnn_jit.ops.elementwise.typecast import Typecast
from ttnn_jit.ops.families.contraction import Contraction
from ttnn_jit.ops.families.decomposition import BY_NAME, Composite, MacroOperation
from ttnn_jit.ops.families.elementwise import Elementwise, Forms, Laws
from ttnn_jit.ops.families.movement import Movement
from ttnn_jit.ops.families.reduction import Reduction
from ttnn_jit.ops.families.routine import Routine
from ttnn_jit.ops.language.binding import BoundCall, bind
from ttnn_jit.ops.language.kinds import Number, are_numbers
from ttnn_jit.ops.language.operation import OPERATOR_METHODS, REFLECTED_METHODS, Declaration, Operation, Probe
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.ops.movement.data_movement import RESHAPE, SLICE, indexed
from ttnn_jit.ops.movement.part_writes import SLICE_WRITE
from ttnn_jit.ops.movement.sequences import RELAYOUT
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
    "elementwise.unary elementwise.activations elementwise.predicates elementwise.binary elementwise.ternary elementwise.bitwise elementwise.special_functions elementwise.typecast movement.data_movement movement.padding movement.part_writes "
    "reduction.reductions contraction.contractions reduction.moments elementwise.gated_units reduction.losses normalization.softmaxes normalization.normalizations attention.rotary normalization.channel_norms contraction.products "
    "contraction.sparse_products selection.routines reduction.scans selection.selections movement.rearrangements movement.folds movement.heads attention.attention attention.cached_attention attention.kv_caches "
    "reduction.further_reductions elementwise.integer_division elementwise.elementwise_calls"
)
"""The modules, of this room, of operations that may be called."""

IN_PROGRAMS = (
    "movement.sequences attention.cache_routines reduction.integer_reductions movement.windows convolution.convolutions convolution.transposed_convolutions convolution.pools convolution.pool_places "
    "selection.random_numbers selection.embedding_gradient convolution.resampling convolution.rescaling"
)
"""The modules of operations that functions of the host API stand for; read when a program is compiled."""

GRADIENTS = "gradients.backward_binary gradients.backward_unary gradients.backward_structured"
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
"""Those of `OVERLOADS` whose eager function is derived; a cast takes tensors on the host too (transfers.py)."""

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
