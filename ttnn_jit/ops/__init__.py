"""The registry of operations: every other room derives its own part from these declarations.

Each operation is declared once, in the folder of its kind: `ops/elementwise`, `ops/movement`, `ops/reduction`,
`ops/contraction`, `ops/normalization`, `ops/attention`, `ops/convolution`, `ops/selection` (loops whose indices depend
on elements, and random numbers) and `ops/gradients`. `docs/adding_an_operation.md` walks through a declaration.

An operation in terms of others has a `decompose` over one protocol (`ops/families/decomposition.py`). A *composite* has
an op in the dialects. TTIR decomposes it in float32, and the result is rounded once. The frontend expands a *macro
operation* into the operations that it calls; gradients are macro operations. The `ops` argument of `decompose` decides
what the calls produce: specs alone, ops of TTNN, or ops of TTIR.
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
from ttnn_jit.ops.families.collective import Collective
from ttnn_jit.ops.families.contraction import Contraction
from ttnn_jit.ops.families.decomposition import BY_NAME, Composite, MacroOperation
from ttnn_jit.ops.families.elementwise import AlgebraicProperties, Elementwise, Implementations
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
    "SYNONYMS",
    "TYPECAST",
    "AbsentOperator",
    "AlgebraicProperties",
    "BoundCall",
    "Collective",
    "Composite",
    "Contraction",
    "Declaration",
    "Elementwise",
    "Implementations",
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
    "modules_of",
    "nearest_names",
    "operations_on",
    "overloads_of",
]

CALLABLE = """
elementwise: unary activations predicates binary ternary bitwise special_functions typecast gated_units
elementwise: integer_division elementwise_calls
movement: data_movement padding part_writes rearrangements folds heads
contraction: contractions products sparse_products
normalization: softmaxes normalizations channel_norms
attention: rotary attention cached_attention kv_caches
selection: routines selections
reduction: reductions moments losses scans further_reductions
"""
"""Folder of this room -> its modules of callable operations."""

IN_PROGRAMS = """
contraction: wide_products
movement: sequences windows
attention: cache_routines
convolution: convolutions transposed_convolutions pools pool_indices resampling rescaling
selection: random_numbers embedding_gradient
reduction: integer_reductions
collectives: device_exchanges
"""
"""The modules of operations that only programs have, made of host API calls; imported when a program is compiled."""

GRADIENTS = "gradients: backward_binary backward_unary backward_structured"
"""The modules of gradients; imported at the first use of one."""


def modules_of(listing: str) -> list[str]:
    """The module names of a listing, relative to this package."""
    folders = (line.split(": ") for line in listing.split("\n") if line)
    return [f"{folder}.{module}" for folder, modules in folders for module in modules.split()]


def declared_in(listing: str, name: str = "OPERATIONS") -> tuple[Operation, ...]:
    """The operations in the variable `name` of every module of a listing that has it, in the order of the listing."""
    modules = (import_module(f"{__name__}.{module}") for module in modules_of(listing))
    return tuple(operation for module in modules for operation in getattr(module, name, ()))


OPERATIONS = declared_in(CALLABLE)
"""Every callable operation, of every family."""

ELEMENTWISE = tuple(operation for operation in OPERATIONS if type(operation) is Elementwise)
"""The elementwise operations, without casts."""


def _overloads() -> Mapping[str, tuple[Operation, ...]]:
    table: dict[str, tuple[Operation, ...]] = {}
    for operation in OPERATIONS:
        table[operation.name] = (*table.get(operation.name, ()), operation)
    return table


FOREIGN_NAMES = {"fabs": "abs", "power": "pow", "true_divide": "divide"}
"""Name of an operation in another library -> its name here, where the two differ."""

(TYPECAST,) = (operation for operation in OPERATIONS if isinstance(operation, Typecast))
"""The operation that casts its operand to another element type."""

(COPY,) = (operation for operation in ELEMENTWISE if operation.algebra.copies)
"""The operation whose result is its operand."""

OVERLOADS = _overloads()
"""Python name -> the declarations that share it, in order of preference."""
BY_NAME.update(OVERLOADS)

IN_PLACE = {name: OVERLOADS[operation.name] for operation in OPERATIONS for name in operation.in_place_names}
"""Name of an in-place function of ttnn -> the declarations of what it computes."""

EAGER = {
    name: overloads
    for name, overloads in OVERLOADS.items()
    if name not in IN_PLACE and not isinstance(overloads[0], Typecast)
}
"""Entries of `OVERLOADS` with a derived eager function; eager casts also take host tensors (transfers.py)."""

SYNONYMS = {name: operation.name for operation in OPERATIONS for name in operation.synonyms}
"""Further names that eager ttnn has for a function -> the name that `@jit` takes."""

ALIASES = SYNONYMS | {alias: operation.name for operation in OPERATIONS for alias in operation.aliases}
"""Further names of eager ttnn, `SYNONYMS` among them -> the name that `@jit` takes."""

SAME_FUNCTION = SYNONYMS | {f"{name}_": f"{meant}_" for name, meant in SYNONYMS.items() if f"{name}_" in IN_PLACE}
"""Name of a function -> another name of the same function object."""


def operations_on(dtypes: frozenset[DataType]) -> tuple[Elementwise, ...]:
    """The elementwise operations that take all of these element types."""
    return tuple(operation for operation in ELEMENTWISE if dtypes <= operation.dtypes)


def overloads_of(function: Any) -> tuple[Operation, ...] | None:
    """The declarations of a function of a `ttnn` namespace: ours has them as an attribute, the real ttnn's a name.

    Returns:
        Empty for an operation of the real ttnn without a declaration here; None if `function` is no operation.
    """
    own = own_attribute(function, "__ttnn_overloads__")  # not getattr: a class may answer to any name
    if own is not NOTHING:
        return own  # type: ignore[no-any-return]
    if getattr(function, "__module__", None) != "ttnn.decorators":
        return None
    name = str(getattr(function, "__name__", "")).removeprefix("ttnn.")
    return OVERLOADS.get(name) or IN_PLACE.get(name, ())


def nearest_names(name: str) -> list[str]:
    """Names of operations that a misspelled `name` may mean."""
    from ttnn_jit.ops.public_names import names_within_one_edit

    return [ALIASES[name]] if name in ALIASES else names_within_one_edit(name, OVERLOADS)
