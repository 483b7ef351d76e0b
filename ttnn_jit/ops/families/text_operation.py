"""Operations as the texts of tt-mlir write them: the correspondence between an op of a text and calls of operations.

A `TextOperation` says how an op of the ttir or ttnn dialect is read: the names of its operands and attributes, the
defaults of attributes that a text leaves out, the calls that compute it (``write``), and a golden. `Spelling`
(spelling.py) derives one from the declaration of an operation that has the op's operands and attributes.
"""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.element_goldens import GoldenOfElements
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import ALL_DTYPES, DataType
from ttnn_jit.specs.tensor_spec import TensorSpec


def element_of(dtype: DataType) -> str:
    """The spelling of an element type in texts, where integers without a sign are signed."""
    return dtype.mlir.removeprefix("s")


def dtype_of_element(element: str) -> DataType:
    """The element type of a spelling in texts."""
    return next(dtype for dtype in ALL_DTYPES if element_of(dtype) == element.removeprefix("s"))


REQUIRED = object()
"""The default of an attribute that every text has."""

OPTIONAL, VARIADIC = "?", "*"
"""The marks after the name of an operand that a text may leave out, and of any number of operands."""


_OF_CHIPS = """
applied_shard_scheme compute_config compute_kernel_config config_tensors_in_dram conservative_folding conv2d_config
conv2d_slice_config conv3d_config core_grid dtype flattened_compat_info in_place_halo layout matmul_program_config
memory_config num_links operandSegmentSizes operand_constraints output_dtype overlap_qk_coregrid pad_value
program_config reallocate_halo_output resultSegmentSizes result_layout slice_size sub_device_id topology
use_2d_core_grid use_multicore xla_shape
"""
WITHOUT_EFFECT = frozenset(_OF_CHIPS.split())
"""Attributes that say how a chip computes, or what stands beside the elements of a result, or in its type as well."""


_LISTS = frozenset({"activations", "input_tensor_a_activations", "input_tensor_b_activations"})
"""Lists of functions that are applied to operands or results: empty ones have no effect."""


class Enumerated(str):
    """The member of an enumeration, or the text of an attribute that is no number, string or list."""

    __slots__ = ()


@dataclass(frozen=True)
class DenseNumbers:
    """The numbers of a constant tensor.

    Attributes:
        shape: Its extents.
        numbers: Its elements in row-major order, pairs if they are complex; one number if all are equal.
    """

    shape: tuple[int, ...]
    numbers: tuple[float, ...]

    @property
    def splat(self) -> float | None:
        """The number that all elements are; None if they differ."""
        return self.numbers[0] if len(self.numbers) == 1 else None


def numbers_in_torch(torch: Any, numbers: Sequence[float], *, is_integer: bool) -> Any:
    """The tensor of numbers of a text: float64, or int64 with the bits of unsigned ones; complex128 of pairs."""
    if numbers and isinstance(numbers[0], tuple):
        return torch.view_as_complex(torch.tensor(numbers, dtype=torch.float64))
    if not is_integer:
        return torch.tensor(numbers, dtype=torch.float64)
    return torch.tensor([(int(each) + 2**63) % 2**64 - 2**63 for each in numbers], dtype=torch.int64)


class TextOps(Ops):
    """The protocol of decompositions, with constant tensors."""

    @abstractmethod
    def constant(self, numbers: DenseNumbers, spec: TensorSpec) -> Value:
        """A tensor of `spec` with these elements."""

    @abstractmethod
    def in_text(
        self,
        name: str,
        operands: Sequence[Any],
        types: Sequence[tuple[Sequence[int], str]],
        attributes: Mapping[str, Any],
    ) -> list[Value]:
        """The results of an op as a text would say it.

        Args:
            name: The op.
            operands: A value, a list of values or None for each of its operands.
            types: The extents and the element type of each result.
            attributes: As Python values.
        """


class Role(enum.Enum):
    """The part that an op has in a function of a text.

    Attributes:
        COMPUTES: Its results are computed from its operands.
        ALLOCATES: Its result has no elements yet: an op whose last operand it is writes it, and returns that.
        CALLS: It calls the function that its attribute `TextOperation.calls` names, whose last results are its own.
        CALLS_ONCE: It calls the function `callee`, whose results are kept for later runs.
        TRACES: It calls the function that captures a trace and executes it, on slots that another one gives.
        EXCHANGES: It reads tensors of other devices. Operands are lists over the devices of the call's `mesh`, and so
            are what ``write`` and the golden give: the first result of every device, then the second ones.
        NOTHING: It computes nothing: it frees a tensor, or gives a device.
        CHOOSES: Its results are those of one of its regions, by the number `index`, or the flag, set for the first.
        REPEATS: It repeats its second region on its operands while its first one holds.
        SHARDS: It runs its region on the shards of every device, cut and joined by ``in_shardings``, ``out_shardings``.
        RUNS_REGION: It runs its region on its operands.
    """

    COMPUTES = "computes"
    ALLOCATES = "allocates"
    CALLS = "calls"
    CALLS_ONCE = "calls once"
    TRACES = "traces"
    EXCHANGES = "exchanges"
    NOTHING = "nothing"
    CHOOSES = "chooses"
    REPEATS = "repeats"
    SHARDS = "shards"
    RUNS_REGION = "runs region"


class OpenResult:
    """A result whose shape is asked of a golden: the element type alone is known.

    Args:
        dtype: The element type.
    """

    def __init__(self, dtype: DataType) -> None:
        self.dtype = dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Not known.

        Raises:
            ShapeError: Always.
        """
        raise ShapeError("the shape of its result is not that of operands and attributes")


class TextCall:
    """One op of a text: its operands and attributes are Python attributes of this object.

    Operands are values of a function under construction, or torch tensors for a golden; None if the op has none, a
    list for an operand of any number.

    Attributes:
        results: The specs of the results.
        mesh: The extents of the mesh.
        element_types: Operand -> its element type in the text; ``"result"`` -> that of the first result.
        numbers: Operand -> its number, where the text has one number for all of its elements.
    """

    numbers: Mapping[str, float] = MappingProxyType({})
    element_types: Mapping[str, str] = MappingProxyType({})
    mesh: tuple[int, ...] = (1,)

    def __init__(self, given: Mapping[str, Any], results: Sequence[TensorSpec]) -> None:
        self.__dict__.update(given)
        self.results = tuple(results)

    def number(self, operand: str) -> float | None:
        """The number that all elements of an operand are, ``init_values[0]``; None if the text does not say it."""
        return self.numbers.get(operand)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the op has no operand or attribute {name!r}", name=name)

    @property
    def result(self) -> TensorSpec:
        """The spec of the first result."""
        return self.results[0]

    def in_result_shape(self, x: Any, number: int = 0) -> Any:
        """A torch tensor in the shape of a result; as it is where that shape is asked."""
        result: Any = self.results[number]
        return x if isinstance(result, OpenResult) else x.reshape(tuple(result.shape))


OnDevice = Callable[..., Value]
"""``exchange(collective, tensor, *attributes)``: the result of a collective on each device."""


@dataclass(frozen=True)
class OpInText:
    """The names of one op.

    Attributes:
        operands: Their names in order, with the marks `OPTIONAL` and `VARIADIC`.
        attributes: Name -> default; `REQUIRED` if there is none.
    """

    operands: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def required(self) -> int:
        """The number of operands that every text has."""
        return sum(name[-1] not in {OPTIONAL, VARIADIC} for name in self.operands)

    @property
    def at_most(self) -> int | None:
        """The number of operands that a text has at most; None of any number."""
        return None if any(name[-1] == VARIADIC for name in self.operands) else len(self.operands)

    def fits(self, sizes: Sequence[int], count: int) -> bool:
        """Whether operands may have these numbers of values; MLIR ignores the sizes of an op that needs none."""
        own = sizes[: len(self.operands)]
        if len(own) < len(self.operands) or sum(own) != count:
            return False
        return all(name[-1] in {OPTIONAL, VARIADIC} or size == 1 for name, size in zip(self.operands, own, strict=True))

    def segments(self, count: int, sizes: Sequence[int] | None) -> Iterator[tuple[str, int]]:
        """The name of each operand, and how many values of an op with `count` operands it has.

        Args:
            count: How many operands the op has.
            sizes: Its ``operandSegmentSizes``, without those of operands that are no tensors.

        Raises:
            ArgumentError: The op has another number of operands.
        """
        if sizes is not None and self.fits(sizes, count):
            yield from zip(self.operands, sizes, strict=False)
            return
        spare = count - self.required
        if spare < 0 or (spare and self.required == len(self.operands)):
            takes = " ".join(self.operands)
            raise ArgumentError(f"it takes the operands ({takes}), got {count}")
        for name in self.operands:
            if name[-1] == VARIADIC:
                yield name, spare
                spare = 0
            elif name[-1] == OPTIONAL:
                yield name, int(spare > 0)
                spare -= spare > 0
            else:
                yield name, 1

    def bound(
        self,
        operands: Sequence[Any],
        sizes: Sequence[int] | None,
        attributes: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Operands and attributes by name.

        Raises:
            ArgumentError: The op has another number of operands, or lacks an attribute.
        """
        values = iter(operands)
        found: dict[str, Any] = {}
        for name, size in self.segments(len(operands), sizes):
            own = [next(values) for _ in range(size)]
            if name[-1] == VARIADIC:
                found[name[:-1]] = own
            else:
                found[name.rstrip(OPTIONAL)] = own[0] if own else None
        for name, default in self.attributes.items():
            value = attributes.get(name, default)
            if value is REQUIRED:
                raise ArgumentError(f"it needs the attribute `{name}`")
            found[name] = value
        return found


@dataclass(frozen=True, eq=False, repr=False)
class TextOperation:
    """An op of texts.

    Attributes:
        names: Its names: one per dialect and version, ``ttir.dot_general``.
        form: Its operands and attributes.
        write: ``write(ops, call)``: the result, or several, by calls of `ops`.
        golden: ``golden(torch, call)``: the result, or several, on torch tensors: floats as float64.
        is_random: Its results are drawn: a golden tells their shape alone.
        index_limits: Operand -> ``limit(call)``, the number of values that its integers may have; None for any number.
        assignments: Operands ``[..., rows, columns]`` that assign each row to a column: one 1 in a row, as many in each
            column, such as the devices of experts.
        not_negative: Operands that are never negative, such as a variance.
        role: Its part in a function.
        calls: The attribute that names the function that it calls.
        rounds_intermediates: Intermediate values are rounded to the element type of its operands.
        updates: The operand that an op without results writes: later ops read its result there.
        also_updates: Operands that it writes besides its results, in the order of the further results of `write`.
        takes_quantized: Its operands or results may be quantized, as `TextCall.element_types` says.
        moves: It reads the elements of its operands as they are, and computes nothing: halves are not widened first.
        compared_elements: ``compared_elements(torch, call, results)``: of results that are indices, what is compared:
            the elements at the indices, since any index among equal elements is right.
        accumulator_error: ``accumulator_error(torch, call)``: by how much a result may be off on a chip, which rounds
            sums to bfloat16 after every tile; None: it has no such sums.
        elements_at: ``elements_at(torch, call, places)``: the golden of elements at row-major places alone.
        reduced_axes: ``reduced_axes(torch, call)``: of a reduction, which dimensions of its first operand it reduces.
        is_elementwise: It is computed element by element, of operands that are broadcast.
        in_float32: Operands are cast to float32, and each result is rounded once; else each call rounds its result.
        refusal: Why it is not executed; "" if it is.
        on_device: ``on_device(exchange, call)``: of an exchange, its result on the device that a function is written
            for, by ``exchange(collective, tensor, *attributes)``; None where no collectives of ttnn give it.
    """

    names: tuple[str, ...]
    form: OpInText
    write: Callable[[TextOps, TextCall], Any]
    golden: Callable[[Any, TextCall], Any]
    is_random: bool = False
    index_limits: Mapping[str, Callable[[TextCall], int | None]] = field(default_factory=dict)
    assignments: tuple[str, ...] = ()
    not_negative: tuple[str, ...] = ()
    role: Role = Role.COMPUTES
    calls: str = "decomposition"
    in_float32: bool = False
    rounds_intermediates: bool = False
    updates: str = ""
    also_updates: tuple[str, ...] = ()
    takes_quantized: bool = False
    moves: bool = False
    compared_elements: Callable[[Any, TextCall, Sequence[Any]], Sequence[Any]] | None = None
    accumulator_error: Callable[[Any, TextCall], Any] | None = None
    elements_at: Callable[[Any, TextCall, Any], GoldenOfElements | None] | None = None
    reduced_axes: Callable[[Any, TextCall], Sequence[int]] | None = None
    is_elementwise: bool = False
    refusal: str = ""
    on_device: Callable[[OnDevice, TextCall], Value] | None = None

    def bound(
        self, operands: Sequence[Any], sizes: Sequence[int] | None, attributes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Operands and attributes of an op by name.

        Args:
            operands: The values of its tensors.
            sizes: How many values each operand has, if the op says it.
            attributes: Its attributes, as Python values.

        Raises:
            ArgumentError: The op has another number of operands, lacks an attribute, or has one that is not known.
        """
        known = self.attribute_names
        for name, value in attributes.items():
            has_effect = "." not in name and name not in WITHOUT_EFFECT and (value or name not in _LISTS)
            if has_effect and name not in known:
                raise ArgumentError(f"it has an attribute `{name}`, and that is not known here")
        return self.form.bound(operands, sizes, attributes)

    @property
    def attribute_names(self) -> Collection[str]:
        """The attributes that it reads."""
        return self.form.attributes.keys()

    def stated_ulp(self, call: TextCall) -> float | None:  # noqa: ARG002 - of some, their declaration's
        """The bound that is declared for its results, in units in the last place; None: that of sums in float32."""
        return None

    def __repr__(self) -> str:
        return f"<text operation {self.names[0]}>"


_OPTIONS = {each.name for each in fields(TextOperation)} - {"names", "form", "write", "golden"}


def text(
    names: str,
    operands: str,
    write: Callable[[TextOps, TextCall], Any],
    golden: Callable[[Any, TextCall], Any],
    **attributes: Any,
) -> TextOperation:
    """The op with these names and operands, which are separated by spaces.

    Keywords are its attributes with their defaults, and fields of `TextOperation`, whose names no attribute has.
    """
    options = {name: attributes.pop(name) for name in _OPTIONS if name in attributes}
    return TextOperation(tuple(names.split()), OpInText(tuple(operands.split()), attributes), write, golden, **options)
