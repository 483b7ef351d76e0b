"""Verdicts on the results of an op of a text: its golden on given operands, and the allowed difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from xdsl.ir import SSAValue

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import Step
from ttnn_jit.dialects.text_calls.op_calls import OpCall
from ttnn_jit.dialects.text_calls.tensor_types import spec_in_text
from ttnn_jit.golden.comparison_recorder import Outcome
from ttnn_jit.golden.distances import elements_at
from ttnn_jit.golden.judging import judge
from ttnn_jit.golden.judging_parts import PART, judge_parts
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict
from ttnn_jit.ops.families.complex_parts import is_complex
from ttnn_jit.ops.families.element_goldens import (
    GoldenOfElements,
    ReductionSlices,
    elements_of_operands,
    parts_of_operands,
    slices_of_reduction,
)
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, WIDE_FLOATS
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttnn.calling.golden_calls import GoldenCall
from ttnn_jit.ttnn.observing.comparison_tolerances import JudgedCall, chained_tolerance

if TYPE_CHECKING:
    import torch

_ERROR_ON_CHIP = 2.0**-7
"""Relative error of a step on a chip, which rounds factors by its fidelity, and values between steps."""
_RELATIVE = 2.0**-20
"""Of the golden, and of the root mean square of all its elements: eight roundings to float32."""
_SUM_ERROR = 2.0**-16
"""Relative error of float32 sums, as of eager calls (ttnn/observing/comparison_tolerances.py)."""
_PLACES = 2**9
"""Elements whose noise is computed alone at a time: 20 MB of factors, where 4,608 products are an element."""
_SLICE = 2**24
"""Elements of a reduction's operand that are widened at a time: 128 MB of float64."""
_WIDE_UNITS = 4.0
"""Of floats of 64 bits, in which goldens are computed as well: they are off by a unit or two themselves."""
_WIDE_RELATIVE = 2.0**-49
"""As `_RELATIVE`, of results in float64."""
_WIDE_SUM_ERROR = 2.0**-45
"""As `_SUM_ERROR`, of results in float64."""


class JudgedOp:
    """A call of a golden, beside the results of the op.

    Args:
        read: The op.
        values: Its operands: a tensor each, or of an exchange the tensors of all devices.
        on_chip: Whether the op ran with the numerics of a chip.
        mesh: Of an exchange, the extents of the mesh.
        relative: Of a chain of ops, the allowed relative root mean square of the differences; None: the operands are
            those that the op had.
    """

    def __init__(
        self,
        read: OpCall,
        values: Mapping[SSAValue, Any],
        on_chip: bool,
        mesh: tuple[int, ...] | None = None,
        relative: float | None = None,
    ) -> None:
        self._read = read
        self._is_on_chip = on_chip
        self._mesh = mesh
        self._relative = relative
        self._keys = [*values]
        self._tensors = tuple(each for value in values.values() for each in (value if mesh else (value,)))
        self._widens_later = mesh is not None and not read.operation.moves

    def _changed(self, operands: Sequence[torch.Tensor]) -> JudgedCall:
        """The golden with operands that are changed: what changes them widens floats, or narrows them."""
        given = _widened_once(operands, moves=self._read.operation.moves, floats=False)
        golden = GoldenCall(None, given, (), self._golden)  # type: ignore[arg-type]
        return JudgedCall(golden, None, [*self._read.results], on_chip=self._is_on_chip)  # type: ignore[arg-type]

    def _golden(self, torch: Any, *tensors: torch.Tensor, widens: bool = False) -> Any:
        given: Iterable[Any] = tensors
        if self._mesh:
            count = math.prod(self._mesh)
            groups = [[*tensors[at : at + count]] for at in range(0, len(tensors), count)]
            given = [*map(_WidenedTensors, groups)] if widens else groups
        call = self._read.call(dict(zip(self._keys, given, strict=True)).get)
        call.mesh = self._mesh or (1,)
        return self._read.operation.golden(torch, call)

    def goldens(self) -> list[torch.Tensor]:
        """The golden of each result.

        Raises:
            Exception: Whatever torch raises.
        """
        import torch

        slices = self._slices()
        if slices is not None:
            found = [self._golden(torch, *_widened_once(each, moves=False)) for each in slices.operands]
            return [torch.cat([_listed(each)[0].double() for each in found], slices.axis)]
        later = self._widens_later
        given = self._tensors if later else _widened_once(self._tensors, moves=self._read.operation.moves)
        return _listed(self._golden(torch, *given, widens=later))

    def _slices(self) -> ReductionSlices | None:
        """Slices of the operands of a large reduction of floats; None of another op."""
        import torch

        reduced_axes, results = self._read.operation.reduced_axes, self._read.results
        if reduced_axes is None or self._mesh or len(results) > 1 or not self._has_scalar_floats(results[0]):
            return None
        axes = reduced_axes(torch, self._read.call(dict(zip(self._keys, self._tensors, strict=True)).get))
        return slices_of_reduction(self._tensors, axes, len(results[0].shape), _SLICE)

    def outcomes(
        self, got: Sequence[torch.Tensor], goldens: Sequence[torch.Tensor], names: Sequence[str] = ()
    ) -> list[Outcome]:
        """The outcome for each result, which has the shape of its golden; `names` are those of the values."""
        devices = math.prod(self._mesh or ())
        specs = [self._read.results[index // devices] for index, _ in enumerate(got)]
        if self._read.operation.compared_elements is None:
            judged = [*zip(got, goldens, specs, strict=True)]
        else:
            judged = self._selected_elements(got, goldens, specs)
        found: list[Outcome] = []
        known: dict[tuple[int, ...], Outcome] = {}  # devices share tensors
        for index, (own, golden, each) in enumerate(zip(got, goldens, judged, strict=True)):
            key = id(own), id(golden), index // devices
            if key not in known:
                known[key] = self._outcome(index, own, golden, each)
            found.append(known[key]._replace(name=names[index] if index < len(names) else ""))
        return found

    def outcome_by_parts(self, got: Sequence[torch.Tensor], name: str = "") -> Outcome | None:
        """The outcome for a large result of an elementwise op, whose golden is nowhere whole; None of another op.

        Raises:
            Exception: Whatever torch raises.
        """
        spec = self._read.results[0]
        is_one = len(got) == 1 and got[0].numel() > PART and tuple(got[0].shape) == tuple(spec.shape)
        if not is_one or not self._is_by_elements(spec) or self._relative is not None:
            return None
        tolerance = self._tolerance(0, spec, None)
        verdict = judge_parts(got[0], self._parts(spec), ResultFormat(spec.dtype, self._is_on_chip), tolerance)
        own = spec.dtype.mlir, str(tolerance), self._tensors
        return Outcome(verdict, got[0], lambda: self.goldens()[0], *own, name=name)

    def _is_by_elements(self, spec: TensorSpec) -> bool:
        """Whether an element of a result of scalar floats depends on the elements of operands at its place alone."""
        if not self._read.operation.is_elementwise or self._mesh or not self._tensors:
            return False
        return self._has_scalar_floats(spec) and all(_fits(each, spec) for each in self._tensors)

    def _has_scalar_floats(self, spec: TensorSpec) -> bool:
        """Whether a result has such elements, and nothing is complex."""
        elements = self._read.call(lambda _: None).element_types.values()
        return not spec.dtype.is_integer and not spec.dtype.is_block_float and not any(map(is_complex, elements))

    def _parts(self, spec: TensorSpec) -> Iterator[torch.Tensor]:
        """The golden of an elementwise op, some elements after another."""
        import torch

        for part in parts_of_operands(self._tensors, tuple(spec.shape), PART):
            (found,) = _listed(self._golden(torch, *_widened_once(part, moves=False)))
            assert found.shape == part[0].shape, "an elementwise op has the shape of its operands"
            yield found.double().reshape(-1)

    def verdicts(self, got: Sequence[torch.Tensor]) -> list[Verdict]:
        """The verdict on each result, or of an exchange on those of all devices."""
        outcome = self.outcome_by_parts(got)
        if outcome is not None:
            return [outcome.verdict]
        goldens = self.goldens()
        reason = shape_mismatch(got, goldens)
        if reason:
            return [Verdict(matches=False, reason=reason, pcc=0.0, max_ulp=0.0)]
        return [each.verdict for each in self.outcomes(got, goldens)]

    def verdict(self, index: int, got: torch.Tensor) -> Verdict:
        """The verdict on one result, or of an exchange on the result of one device."""
        results = [got if at == index else each for at, each in enumerate(self.goldens())]
        return self.verdicts(results)[index]

    def _selected_elements(
        self, got: Sequence[torch.Tensor], goldens: Sequence[torch.Tensor], specs: Sequence[TensorSpec]
    ) -> list[tuple[torch.Tensor, torch.Tensor, TensorSpec]]:
        """Of results that are indices, the elements that they name, which are compared."""
        import torch

        assert self._read.operation.compared_elements is not None, "results are indices"
        wide = _widened_once(self._tensors, moves=self._read.operation.moves)
        call = self._read.call(dict(zip(self._keys, wide, strict=True)).get)
        pairs = zip(
            *(self._read.operation.compared_elements(torch, call, each) for each in (got, goldens)), strict=True
        )
        floats = (spec_in_text(value.type) for value in self._keys)
        element = next((spec for spec in floats if not spec.dtype.is_integer), specs[0])
        # The elements at indices are exact, whatever they are rounded to.
        return [
            (pair[0], pair[1], element if pair[0].is_floating_point() else spec)
            for pair, spec in zip(pairs, specs, strict=True)
        ]

    def _outcome(
        self,
        index: int,
        result: torch.Tensor,
        golden: torch.Tensor,
        judged: tuple[torch.Tensor, torch.Tensor, TensorSpec],
    ) -> Outcome:
        got, right, spec = judged
        exact = golden if self._read.operation.compared_elements is None and not self._mesh else None
        tolerance = self._tolerance(index, spec, exact)
        right = right.to(spec.dtype.torch) if spec.dtype.compute.is_bool else _plain(right)
        if _is_exact(got, right):
            verdict = Verdict(matches=True, reason="", pcc=1.0, max_ulp=0.0, allclose=True)
        else:
            exact = right if not right.is_floating_point() else right.double()
            verdict = judge(got, exact, ResultFormat(spec.dtype, self._is_on_chip), tolerance)
        dtype = self._read.results[0 if self._mesh else index].dtype.mlir
        return Outcome(verdict, result, _plain(golden), dtype, str(tolerance), self._tensors)

    def _tolerance(self, index: int, spec: TensorSpec, exact: torch.Tensor | None) -> Tolerance:
        """The tolerance of a result, whose golden is `exact`, if it is known."""
        import torch

        if self._relative is not None:
            return chained_tolerance(self._relative, partial(self._noise_of_all, index, self._relative, exact))
        bound = bound_of(self._read, spec, on_chip=self._is_on_chip)
        if not bound.error:
            return Tolerance(bound.units, relative=bound.relative)
        exact = exact if exact is not None and exact.is_floating_point() else None
        noise = partial(self._noise, index, spec, bound.error, exact)
        at_a_time = _PLACES if self._elements_at(torch.zeros(0, dtype=torch.int64), spec) is not None else None
        return Tolerance(bound.units, relative=bound.relative, noise=noise, noise_at_a_time=at_a_time)

    def _elements_at(self, places: torch.Tensor, spec: TensorSpec) -> GoldenOfElements | None:
        """The golden of some elements alone; None if it is not stated, or a chip rounds more than is stated."""
        import torch

        elements_at = self._read.operation.elements_at
        floats = all(each.is_floating_point() for each in self._tensors)
        if self._mesh or spec.dtype in WIDE_FLOATS or not floats or self._rounds_blocks:
            return None
        if elements_at is not None:
            call = self._read.call(dict(zip(self._keys, self._tensors, strict=True)).get)
            found = elements_at(torch, call, places)
            return None if found is not None and found.rounding is None and self._rounds_sums(spec) else found
        if not self._is_by_elements(spec):
            return None
        return GoldenOfElements(self._golden, tuple(elements_of_operands(torch, self._tensors, places, spec.shape)))

    def _rounds_sums(self, spec: TensorSpec) -> bool:
        """Whether a chip rounds the sums of a result's elements to bfloat16."""
        is_sum = self._read.operation.accumulator_error is not None
        return is_sum and self._is_on_chip and not spec.dtype.is_compute_type

    @property
    def _rounds_blocks(self) -> bool:
        """Whether a chip packs elements of a result beside each other."""
        return self._is_on_chip and any(each.dtype.is_block_float for each in self._read.results)

    def _noise(
        self,
        index: int,
        spec: TensorSpec,
        error: float,
        exact: torch.Tensor | None,
        places: torch.Tensor | None = None,
    ) -> Iterator[torch.Tensor]:
        """The change of the golden with its operands, and of sums that a chip rounds to bfloat16."""
        import torch

        few = self._elements_at(places, spec) if places is not None and len(places) <= _PLACES else None
        if few is not None:
            yield from self._noise_of_few(few, _SUM_ERROR if self._rounds_sums(spec) else error, spec)
            return
        rounded = self._read.operation.accumulator_error
        if rounded is None or not self._rounds_sums(spec):
            narrows = spec.dtype not in WIDE_FLOATS
            yield from self._noise_of_all(index, error, exact, narrows=narrows, places=places)
            return
        call = self._read.call(dict(zip(self._keys, _widened_once(self._tensors, moves=False), strict=True)).get)
        off: torch.Tensor = rounded(torch, call).nan_to_num(nan=0.0, posinf=0.0)
        off = elements_at(off, places)
        for noise in self._noise_of_all(index, _SUM_ERROR, exact, places=places):
            yield noise + off

    def _noise_of_few(self, few: GoldenOfElements, error: float, spec: TensorSpec) -> Iterator[torch.Tensor]:
        import torch

        wide = tuple(map(_widened, few.operands))
        golden = GoldenCall(None, wide, (), few.golden)  # type: ignore[arg-type]
        judged = JudgedCall(golden, None, [*self._read.results], on_chip=self._is_on_chip)  # type: ignore[arg-type]
        off = few.rounding(torch, *wide) if few.rounding is not None and self._rounds_sums(spec) else None
        for noise in judged.noise(0, error):
            yield noise if off is None else noise + off.nan_to_num(nan=0.0, posinf=0.0)

    def _noise_of_all(
        self,
        index: int,
        error: float,
        exact: torch.Tensor | None,
        places: torch.Tensor | None = None,
        narrows: bool = True,
    ) -> Iterator[torch.Tensor]:
        """The change of a result's golden with its operands, by evaluations of the whole golden."""
        import torch

        exact = self.goldens()[index] if exact is None else exact
        slices = None if self._rounds_blocks else self._slices()
        if slices is None:
            yield from self._changed(self._tensors).noise(index, error, narrows=narrows, exact=exact, places=places)
            return
        rights = torch.split(exact, slices.extents, slices.axis)
        noises = (
            self._changed(given).noise(0, error, narrows=narrows, exact=right)
            for given, right in zip(slices.operands, rights, strict=True)
        )
        for noise in zip(*noises, strict=True):
            yield elements_at(torch.cat(noise, slices.axis), places)


class OpBound(NamedTuple):
    """How far the result of an op may be off on exact operands: the sum of all parts.

    Attributes:
        units: Units in the last place of its type.
        relative: Of the golden, and of the root mean square of all its elements.
        error: The relative change of operands whose effect is allowed as well; 0.0 where the op states its units.
    """

    units: float
    relative: float = 0.0
    error: float = 0.0


def bound_of(read: OpCall, spec: TensorSpec, *, on_chip: bool) -> OpBound:
    """The bound of an op's result of a spec, from its declaration; `on_chip` is of a chip's numerics."""
    stated = read.operation.stated_ulp(read.call(lambda _: None))
    units = max(stated or 0.5, 0.5) + spec.dtype.is_block_float / 2
    if spec.dtype in WIDE_FLOATS:
        return OpBound(max(units, _WIDE_UNITS), _WIDE_RELATIVE, _WIDE_SUM_ERROR)
    if stated is not None:
        return OpBound(units + _first_rounding(read, spec))
    return OpBound(units, _RELATIVE, _error_of(read, on_chip=on_chip))


def _first_rounding(read: OpCall, spec: TensorSpec) -> float:
    """The units that a result is off by because it is rounded to float32 before it is rounded to its type.

    If the operands have no more bits than the result, what is rounded twice is as if it were rounded once: float32 has
    more than twice the bits.
    """
    dtypes = [spec_in_text(value.type).dtype.unpacked for value in read.operands]
    bits = max((dtype.mantissa_bits for dtype in dtypes if not dtype.is_integer), default=0)
    own = spec.dtype.unpacked
    if own.is_integer or not own.mantissa_bits < min(bits, COMPUTE_TYPE.mantissa_bits):
        return 0.0
    return float(2.0 ** (own.mantissa_bits - COMPUTE_TYPE.mantissa_bits - 1))


def _error_of(read: OpCall, *, on_chip: bool) -> float:
    """The relative error of a step: of a sum in float32, or of the element type to which steps are rounded."""
    if on_chip:
        return _ERROR_ON_CHIP
    if not read.operation.rounds_intermediates:
        return _SUM_ERROR
    dtypes = [spec_in_text(value.type).dtype.unpacked for value in read.operands]
    return max([_SUM_ERROR, *(2.0 ** (1 - dtype.mantissa_bits) for dtype in dtypes if not dtype.is_integer)])


def verdicts_of(module: TextModule, step: Step) -> Iterator[Verdict]:
    """The verdicts on the results of an op, on the operands that it read; none if the results are drawn."""
    on_chip = module.target.numerics is Numerics.DEVICE
    if step.is_exchange:
        got = [each for tensors in step.results.values() for each in tensors]
        yield from JudgedOp(step.read, step.operands, on_chip, module.mesh).verdicts(got)
    elif not step.read.operation.is_random:
        for _, given, results in distinct_devices(step, math.prod(module.mesh)):
            yield from JudgedOp(step.read, given, on_chip).verdicts(results)


def distinct_devices(
    step: Step, devices: int
) -> Iterator[tuple[int, dict[SSAValue, torch.Tensor], list[torch.Tensor]]]:
    """Operands and results of an op on each device; devices with the same operands have the same results, once."""
    seen = set()
    for device in range(devices):
        given = {value: tensors[device] for value, tensors in step.operands.items()}
        key = tuple(map(id, given.values()))
        if key not in seen:
            seen.add(key)
            yield device, given, [tensors[device] for tensors in step.results.values()]


def shape_mismatch(got: Sequence[torch.Tensor], goldens: Sequence[torch.Tensor]) -> str:
    """How results differ from their goldens in number or shape; empty if they do not."""
    if len(got) != len(goldens):
        return f"it has {len(got)} results, and its golden {len(goldens)}"
    for index, (own, golden) in enumerate(zip(got, goldens, strict=True)):
        if tuple(own.shape) != tuple(golden.shape):
            return f"result {index} has the shape {list(own.shape)}, and its golden {list(golden.shape)}"
    return ""


def _fits(x: torch.Tensor, spec: TensorSpec) -> bool:
    """Whether a tensor is broadcast to a shape."""
    shape = tuple(spec.shape)
    pairs = zip(reversed(x.shape), reversed(shape), strict=False)
    return x.dim() <= len(shape) and all(own in (1, other) for own, other in pairs)


def _is_exact(got: torch.Tensor, golden: torch.Tensor) -> bool:
    """Whether a result has the bits of its golden, or is that rounded; NaN that was rounded is unequal to itself."""
    import torch

    own = got.view(torch.int64) if got.dtype is torch.uint64 else got
    if own.dtype is golden.dtype and own.is_floating_point():
        bits = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[own.dtype.itemsize]
        return torch.equal(own.view(bits), golden.view(bits))
    return torch.equal(own, golden.to(own.dtype))


class _WidenedTensors(Sequence["torch.Tensor"]):
    """The tensors of all devices as a golden takes them: each is widened when it is read, and not kept."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._tensors = tensors

    def __len__(self) -> int:
        return len(self._tensors)

    def __getitem__(self, index: Any) -> Any:
        found = self._tensors[index]
        return [*map(_widened, found)] if isinstance(index, slice) else _widened(found)


def _widened_once(tensors: Sequence[torch.Tensor], *, moves: bool, floats: bool = True) -> tuple[torch.Tensor, ...]:
    """Operands as a golden takes them; what several devices share is widened once, and nothing for a golden that moves.

    Integers of 64 bits without sign are moved as they are widened: torch has few functions of them.

    Args:
        tensors: The operands.
        moves: Whether the golden moves elements.
        floats: Whether floats are widened.
    """
    import torch

    def is_kept(x: torch.Tensor) -> bool:
        return (moves and x.dtype is not torch.uint64) or (not floats and x.is_floating_point())

    known = {id(x): x if is_kept(x) else _widened(x) for x in tensors}
    return tuple(known[id(x)] for x in tensors)


def _widened(x: torch.Tensor) -> torch.Tensor:
    """Floats as float64, and unsigned integers as int64: torch computes with few unsigned types."""
    import torch

    if x.is_floating_point():
        return x.double()
    if x.dtype is torch.uint64:
        from ttnn_jit.golden.unsigned_tensors import unsigned

        return unsigned(x)
    return x if x.dtype.is_signed or x.dtype.itemsize == 1 else x.long()


def _plain(golden: torch.Tensor) -> torch.Tensor:
    """The bits of unsigned integers of 64 bits as int64; other tensors as they are."""
    import torch

    found = golden.as_subclass(torch.Tensor)
    return found.view(torch.int64) if found.dtype is torch.uint64 else found


def _listed(found: Any) -> list[torch.Tensor]:
    return [*found] if isinstance(found, list | tuple) else [found]
