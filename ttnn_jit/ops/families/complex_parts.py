"""Complex numbers in conversions to TTIR: a tensor of them is one of floats there, whose last dimension is two.

A conversion reads a complex operand as a `ComplexTensor`, and may give one. Ops that only move elements, or add them,
treat real and imaginary parts alike (`by_parts`), and products are those of parts (`by_products`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.process.dataclass import dataclass

Convert: TypeAlias = Callable[[TtirOps, ConversionCall], Any]
"""``convert(ops, call)``: the result of an op, or several."""
_PREFIX = "complex<"


def is_complex(element: str) -> bool:
    """Whether an element type of a text has complex numbers."""
    return element.startswith(_PREFIX)


def part_of_element(element: str) -> str:
    """The element type of real and imaginary parts."""
    return element.removeprefix(_PREFIX).removesuffix(">") if is_complex(element) else element


@dataclass(frozen=True)
class ComplexTensor:
    """A tensor of complex numbers in a conversion.

    Attributes:
        real: The real parts.
        imag: The imaginary parts.
    """

    real: Tensor
    imag: Tensor

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        """Both."""
        return self.real, self.imag


@dataclass(frozen=True)
class OnPairs:
    """A conversion that takes complex tensors as the tensors of floats that they are: it uses no last dimension."""

    convert: Convert


def has_complex(call: ConversionCall) -> bool:
    """Whether an operand or the result of an op has complex numbers."""
    return any(map(is_complex, call.element_types.values()))


def converted_parts(convert: Convert | OnPairs | None, ops: TtirOps, call: ConversionCall) -> list[Tensor]:
    """The results of an op with complex numbers: ``convert(ops, call)`` gets and gives `ComplexTensor` objects.

    Raises:
        DTypeError: There is no conversion of complex numbers, or the op has several results.
    """
    if convert is None or len(call.results) != 1:
        raise DTypeError("it does not compute with complex numbers here")

    (kind,) = call.results
    if isinstance(convert, OnPairs):
        wide = (*kind.shape, 2) if is_complex(kind.element) else kind.shape
        pairs = ConversionCall.of(vars(call), [Tensor(wide, part_of_element(kind.element))])
        found = convert.convert(ops, pairs)
        return [*found] if isinstance(found, list | tuple) else [found]

    def given(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [given(f"{name}[{index}]", each) for index, each in enumerate(value)]
        is_pair = isinstance(value, Tensor) and is_complex(call.element_types.get(name, ""))
        return _split(ops, value) if is_pair else value

    if is_complex(kind.element):
        kind = Tensor(kind.shape, part_of_element(kind.element))
    elif is_complex(call.element_types.get("result", "")):
        kind = Tensor(kind.shape[:-1], kind.element)
    inner = ConversionCall.of({name: given(name, each) for name, each in vars(call).items()}, [kind])
    found = convert(ops, inner)
    (found,) = found if isinstance(found, list | tuple) else (found,)
    return [_joined(ops, found) if isinstance(found, ComplexTensor) else found]


def _split(ops: TtirOps, pairs: Tensor) -> ComplexTensor:
    shape, last = pairs.shape[:-1], pairs.rank - 1
    real, imag = (ops.reshape(ops.part(pairs, last, at, at + 1), shape) for at in range(2))
    return ComplexTensor(real, imag)


def _joined(ops: TtirOps, x: ComplexTensor) -> Tensor:
    return ops.concat([ops.reshape(each, (*each.shape, 1)) for each in x.parts], x.real.rank)


def _of_parts(call: ConversionCall, chosen: Mapping[str, int], other: int) -> ConversionCall:
    """The call on the part of every complex operand: 0, the real one, or 1; `other` is that of those not `chosen`."""

    def given(value: Any, part: int) -> Any:
        if isinstance(value, list):
            return [given(each, part) for each in value]
        return value.parts[part] if isinstance(value, ComplexTensor) else value

    found = {name: given(each, chosen.get(name, other)) for name, each in vars(call).items()}
    found["numbers"] = {name: each[other] if isinstance(each, tuple) else each for name, each in call.numbers.items()}
    found["element_types"] = {name: part_of_element(each) for name, each in call.element_types.items()}
    return ConversionCall.of(found, call.results)


def _one(found: Any) -> Tensor:
    (result,) = found if isinstance(found, list | tuple) else (found,)
    assert isinstance(result, Tensor)
    return result


def by_parts(convert: Convert) -> Convert:
    """An op on real and on imaginary parts."""

    def of_complex(ops: TtirOps, call: ConversionCall) -> ComplexTensor:
        return ComplexTensor(*(_one(convert(ops, _of_parts(call, {}, part))) for part in range(2)))

    return of_complex


def by_products(convert: Convert, left: str, right: str) -> Convert:
    """An op that is linear in each of two operands."""

    def of_complex(ops: TtirOps, call: ConversionCall) -> ComplexTensor:
        def product(first: int, second: int) -> Tensor:
            return _one(convert(ops, _of_parts(call, {left: first, right: second}, 0)))

        real = ops.same("ttir.subtract", product(0, 0), product(1, 1))
        return ComplexTensor(real, ops.same("ttir.add", product(0, 1), product(1, 0)))

    return of_complex


def golden_of_pairs(golden: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A golden on tensors whose last dimension holds real and imaginary parts, from one on complex tensors of torch."""

    def of_pairs(torch: Any, call: Any) -> Any:
        types: Mapping[str, str] = call.element_types
        if not any(map(is_complex, types.values())) or _is_inside(torch, call):
            return golden(torch, call)

        def given(name: str, value: Any) -> Any:
            if isinstance(value, list):
                return [given(f"{name}[{index}]", each) for index, each in enumerate(value)]
            is_pair = isinstance(value, torch.Tensor) and is_complex(types.get(name, ""))
            return torch.view_as_complex(value.contiguous()) if is_pair else value

        gives_complex = is_complex(types.get("result", ""))
        results = [each.with_(shape=tuple(each.shape)[:-1]) if gives_complex else each for each in call.results]
        found = golden(torch, type(call)({name: given(name, each) for name, each in vars(call).items()}, results))
        (found,) = found if isinstance(found, list | tuple) else (found,)
        return [torch.view_as_real(found.to(torch.complex128)) if gives_complex else found]

    return of_pairs


def _is_inside(torch: Any, call: Any) -> bool:
    """Whether the call is one of a region, whose operands are complex tensors already."""
    return any(isinstance(each, torch.Tensor) and each.is_complex() for each in vars(call).values())
