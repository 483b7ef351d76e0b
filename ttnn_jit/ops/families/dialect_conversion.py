"""Operations of StableHLO, CHLO and TOSA in terms of TTIR.

A `Conversion` says how an op of another dialect is written as ops of TTIR: ``convert(ops, call)`` over the protocol
`TtirOps` (conversion_protocol.py). A program of such a text runs the same conversion that a pass writes, over the
declarations of the ops of TTIR (`TtirOverTexts`). The golden is an independent definition, in torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.ops.families.complex_parts import (
    Convert,
    OnPairs,
    by_parts,
    converted_parts,
    golden_of_pairs,
    has_complex,
)
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.ops.families.sharding_rule import Shape, ShardingRule, pointwise
from ttnn_jit.ops.families.text_operation import (
    DenseNumbers,
    OpInText,
    Role,
    TextCall,
    TextOperation,
    TextOps,
    element_of,
)
from ttnn_jit.process.dataclass import dataclass


class RegionInText(ABC):
    """A region of an op: a function of scalars, on tensors of equal shapes.

    Attributes:
        single: The operation that it applies to its two arguments, in order, and returns; None of another region.
    """

    single: Conversion | None

    @abstractmethod
    def convert(self, ops: TtirOps, *arguments: Tensor) -> list[Tensor]:
        """What it returns, element by element."""

    @abstractmethod
    def golden(self, torch: Any, *arguments: Any) -> list[Any]:
        """What it returns, by the goldens of its ops."""

    @abstractmethod
    def returned_argument(self, number: int) -> int | None:
        """The argument that is a result as it is; None if the result is computed."""

    @abstractmethod
    def compares(self) -> tuple[int, str] | None:
        """Of a comparator of a sort: the operand that it compares and ``LT`` or ``GT``; None if it does more."""


_ELEMENTS = frozenset({"value", "values"})
"""The attributes that are the elements of a result."""


def _as_list(name: str, value: Any) -> Any:
    """An attribute of one dimension as a tuple, unless it is a result."""
    if not isinstance(value, DenseNumbers) or len(value.shape) != 1 or name in _ELEMENTS:
        return value
    return value.numbers if value.splat is None else value.numbers * value.shape[0]


RuleOfCall: TypeAlias = Callable[[Any, Sequence[Shape], Sequence[Shape]], ShardingRule]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Conversion(TextOperation):
    """An op of another dialect in terms of TTIR.

    Attributes:
        convert: ``convert(ops, call)``: the result, or several, by ops of TTIR. Operands are `Tensor` objects, None for
            omitted ones, lists for operands of any number; results of `call` are tensors without a handle.
        regions: The names of its regions; each is a `RegionInText` of the call. An elementwise op may stand in one.
        reduction: The reduction of TTIR that folds by it, ``ttir.sum``; "" if there is none.
        as_numbers: The operands of which it reads the number that the text says, and no tensor.
        keeps_number: Where all elements of its operand are one number, so are those of its result, if it has the same
            element type.
        neutral: ``neutral(x)``: the number that changes no element of `x` in that reduction.
        of_complex: As `convert`, of a call with complex numbers: operands and results are `ComplexTensor` objects
            (complex_parts.py); None: it is refused.
        sharded_by: ``sharded_by(call, operands, results)``: its rule, from the shapes of these; None: that of an
            elementwise op, or the op is computed on whole tensors.
        states_parts: The attributes of which one says how its result is cut among devices; its result is its operand.
        composite: The operation of TTNN that it is and TTIR lacks: a pass writes a composite of that name, whose
            function has the ops of `convert`; "" if there is none.
        composite_attributes: ``composite_attributes(call)``: the attributes of the composite, as Python values.
    """

    convert: Convert
    regions: tuple[str, ...] = ()
    as_numbers: tuple[str, ...] = ()
    keeps_number: bool = False
    reduction: str = ""
    neutral: Callable[[Tensor], float] | None = None
    of_complex: Convert | OnPairs | None = None
    sharded_by: RuleOfCall | None = None
    states_parts: tuple[str, ...] = ()
    composite: str = ""
    composite_attributes: Callable[[Any], dict[str, Any]] = lambda _: {}

    def bound(
        self, operands: Sequence[Any], sizes: Sequence[int] | None, attributes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Operands and attributes of an op by name; extents, axes and the like, which were tensors once, as tuples."""
        return super().bound(operands, sizes, {name: _as_list(name, each) for name, each in attributes.items()})

    def sharding_rule(
        self, call: ConversionCall, operands: Sequence[Shape], results: Sequence[Shape]
    ) -> ShardingRule | None:
        """How the op is computed on parts; None if it is computed on whole tensors alone."""
        rule = self.sharded_by or (pointwise if self.is_elementwise else None)
        return None if rule is None or not results else rule(call, operands, results)

    def converted(self, ops: TtirOps, call: ConversionCall) -> list[Tensor]:
        """The results by ops of TTIR.

        Raises:
            DTypeError: It has complex numbers, and is not converted with them.
        """
        return _converted(self.convert, self.of_complex, ops, call)


def _converted(
    convert: Convert, of_complex: Convert | OnPairs | None, ops: TtirOps, call: ConversionCall
) -> list[Tensor]:
    if has_complex(call):
        return converted_parts(of_complex, ops, call)
    return listed(convert(ops, call))


def listed(found: Any) -> list[Any]:
    """One result or several as a list."""
    return [*found] if isinstance(found, list | tuple) else [found]


class TtirOverTexts(TtirOps):
    """The protocol of conversions over the declarations of the ops of TTIR.

    Args:
        ops: The protocol of these.
    """

    def __init__(self, ops: TextOps) -> None:
        self._ops = ops

    def results(
        self, name: str, operands: Sequence[Any], types: Sequence[Tensor], /, **attributes: Any
    ) -> list[Tensor]:
        """The results of the calls that the op's declaration makes."""
        given = [_handles(each) for each in operands]
        found = self._ops.in_text(name, given, [(each.shape, each.element) for each in types], attributes)
        return [Tensor(kind.shape, kind.element, value) for kind, value in zip(types, found, strict=True)]


def _handles(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return [_handles(each) for each in given]
    return given.handle if isinstance(given, Tensor) else given


def _as_tensor(given: Any) -> Any:
    if isinstance(given, list):
        return [_as_tensor(each) for each in given]
    return Tensor(given.shape, element_of(given.spec.dtype), given) if isinstance(given, Value) else given


def _over_texts(convert: Convert, of_complex: Convert | OnPairs | None) -> Callable[[TextOps, TextCall], Any]:
    """`convert` as a function that writes calls of declared operations."""

    def write(ops: TextOps, call: TextCall) -> list[Value]:
        kinds = [Tensor(tuple(each.shape), element_of(each.dtype)) for each in call.results]
        given = ConversionCall.of({name: _as_tensor(each) for name, each in vars(call).items()}, kinds)
        found = _converted(convert, of_complex, TtirOverTexts(ops), given)
        return [each.handle for each in found]

    return write


def _in_integers(golden: Callable[[Any, TextCall], Any]) -> Callable[[Any, TextCall], Any]:
    """`golden` on integers of 64 bits; its results wrap around in their element types."""

    def wide(torch: Any, given: Any) -> Any:
        if isinstance(given, list):
            return [wide(torch, each) for each in given]
        if not isinstance(given, torch.Tensor) or given.is_floating_point() or given.is_complex():
            return given
        return given if given.dtype is torch.bool else given.long()

    def wrapped(torch: Any, call: TextCall) -> list[Any]:
        inner = TextCall({name: wide(torch, each) for name, each in vars(call).items()}, call.results)
        found = listed(golden(torch, inner))
        specs = call.results
        return [
            each.to(spec.dtype.torch) if spec.dtype.is_integer else each if each.is_complex() else each.double()
            for each, spec in zip(found, specs, strict=True)
        ]

    return wrapped


_OPTIONS = (
    "is_random",
    "index_limits",
    "assignments",
    "not_negative",
    "role",
    "in_float32",
    "takes_quantized",
    "moves",
    "compared_elements",
    "elements_at",
    "reduced_axes",
    "regions",
    "as_numbers",
    "keeps_number",
    "is_elementwise",
    "reduction",
    "neutral",
    "of_complex",
    "refusal",
    "sharded_by",
    "states_parts",
)


def conversion(
    names: str,
    operands: str,
    convert: Convert,
    golden: Callable[[Any, TextCall], Any],
    **attributes: Any,
) -> Conversion:
    """The conversion of the op with these names and operands, which are separated by spaces.

    Keywords are its attributes with their defaults, and fields of `Conversion`, whose names no attribute has. With
    `acts_on_parts` it is applied to real and to imaginary parts.
    """
    options = {name: attributes.pop(name) for name in _OPTIONS if name in attributes}
    if attributes.pop("acts_on_parts", False):
        options["of_complex"] = by_parts(convert)
    if options.get("role") is Role.EXCHANGES:
        options["of_complex"] = OnPairs(convert)
    return Conversion(
        names=tuple(names.split()),
        form=OpInText(tuple(operands.split()), attributes),
        write=_over_texts(convert, options.get("of_complex")),
        golden=golden_of_pairs(_in_integers(golden)),
        convert=convert,
        **options,
    )


def refused(names: str, reason: str) -> Conversion:
    """An op that has no counterpart in TTIR, for a reason."""

    def refuse(*_: Any) -> Any:
        raise CompileError(reason)

    return conversion(names, "operands*", refuse, refuse, refusal=reason)
