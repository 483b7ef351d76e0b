"""The declaration of an operation: dialects, frontends, eager API, kernels and tests derive from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import OperandDTypeError
from ttnn_jit.ops.language.config_kinds import PrecisionKind
from ttnn_jit.ops.language.host_call import HostCall
from ttnn_jit.ops.language.kinds import NumberKind, TensorsKind, as_float, as_float32
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

OPERATOR_METHODS = {
    "neg": "__neg__", "abs": "__abs__", "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__",
    "**": "__pow__", "@": "__matmul__", "==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__",
    ">=": "__ge__", "&": "__and__", "|": "__or__", "^": "__xor__", "<<": "__lshift__", ">>": "__rshift__",
    "~": "__invert__",
}  # fmt: skip
"""Operator of Python that an operation may declare -> its special method."""

_REFLECTED = ("+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>")
REFLECTED_METHODS = {symbol: OPERATOR_METHODS[symbol].replace("__", "__r", 1) for symbol in _REFLECTED}
"""Operator -> its reflected method, for a number on the left; comparisons reflect to each other."""


Example = tuple[tuple[tuple[int, ...] | None, ...], tuple[Any, ...]]
"""Shapes, one per operand, None for an omitted one; and attributes."""

OperandSpec: TypeAlias = TensorSpec | float | None
"""The spec of a tensor operand, a number, or None for an omitted optional tensor."""


@dataclass(frozen=True)
class Probe:
    """The arguments and error bounds of an operation's tests.

    Attributes:
        domain: Interval of random arguments; every operation is also tested with special values.
        max_ulp: Bound against the golden in float64, in units in the last place of float32; 0 means correctly rounded.
        max_ulp_bf16: The same for bfloat16 operands and results; 0 means correctly rounded for all inputs. A float32
            result within its own bound has an error of 0.51 units after it is rounded once more.
        max_absolute: A smaller absolute error is within the bound whatever its units: for results near a zero crossing
            at an inexact argument.
        attributes: The attribute values of tests; if empty, a sequence around zero.
    """

    domain: tuple[float, float] = (-10.0, 10.0)
    max_ulp: float = 0.0
    max_ulp_bf16: float = 0.0
    max_absolute: float = 0.0
    attributes: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Declaration:
    """The fields that declarations of every family have in common.

    Attributes:
        name: The Python name, ``ttnn.<name>``; with a dot in a submodule, ``transformer.concatenate_heads``. Several
            declarations may share one (``clamp`` by scalars, by tensors).
        summary: One sentence for docstrings and tables.
        source: The source of the semantics: by default ttnn's operation of that name.
        parameters: Operands, then compile-time values, then keywords that select among overloads.
        ttnn_name: Name in the TTNN dialect, without the dialect; by default the last part of `name`.
        ttir_name: Name in the TTIR dialect; by default `ttnn_name`.
        tile_name: Name in the d2m dialect; by default ``tile_`` and `ttir_name`.
        kernel_name: The stem of its names in the ttkernel dialect (``add`` in ``add_binary_tile``), whose forms
            `dialects/ttkernel/tile_functions.py` lists; by default `tile_name` without ``tile_``.
        host_call: How Python calls it, if a function of the host API with other parameters gives it.
    """

    name: str
    summary: str
    source: str = ""
    parameters: tuple[Parameter, ...] = ()
    ttnn_name: str = ""
    ttir_name: str = ""
    tile_name: str = ""
    kernel_name: str = ""
    host_call: HostCall | None = None

    def __post_init__(self) -> None:
        for attribute, default in (
            ("source", "ttnn.{0.name}"),
            ("ttnn_name", self.name.rpartition(".")[2]),
            ("ttir_name", "{0.ttnn_name}"),
            ("tile_name", "tile_{0.ttir_name}"),
        ):
            if not getattr(self, attribute):
                object.__setattr__(self, attribute, default.format(self))
        if not self.kernel_name:
            object.__setattr__(self, "kernel_name", self.tile_name.removeprefix("tile_"))

    @cached_property
    def operands(self) -> tuple[Parameter, ...]:
        """The parameters that are operands, in order."""
        return tuple(parameter for parameter in self.parameters if parameter.is_operand)

    @cached_property
    def attributes(self) -> tuple[Parameter, ...]:
        """The parameters that are properties: compile-time values, in order."""
        return tuple(parameter for parameter in self.parameters if parameter.kind.property_type)

    def with_numbers_of(self, dtype: DataType, statics: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the attributes; those of kind `NumberKind` are converted to `dtype`.

        Raises:
            ArgumentError: A number is out of range of an integer `dtype`.
        """
        return tuple(
            _number(dtype, value, f"`{attribute.name}`") if isinstance(attribute.kind, NumberKind) else value
            for attribute, value in zip(self.attributes, statics, strict=True)
        )

    @cached_property
    def fixed_keywords(self) -> Mapping[str, Any]:
        """Keyword -> its one valid value; such keywords select among overloads."""
        return {parameter.name: parameter.default for parameter in self.parameters if parameter.is_choice}

    @cached_property
    def precision_index(self) -> int | None:
        """The index of the attribute that holds the precision of products; None if there is none."""
        kinds = (attribute.kind for attribute in self.attributes)
        return next((index for index, kind in enumerate(kinds) if isinstance(kind, PrecisionKind)), None)

    @cached_property
    def has_default_precision(self) -> bool:
        """Whether its products have a chip's default precision where the caller gives none."""
        return any(isinstance(each.kind, PrecisionKind) and each.kind.has_defaults for each in self.attributes)

    @property
    def arity(self) -> int:
        """Number of tensor operands."""
        return len(self.operands)

    @cached_property
    def is_variadic(self) -> bool:
        """Whether it takes a list of any number of tensors."""
        return any(isinstance(parameter.kind, TensorsKind) for parameter in self.parameters)

    @cached_property
    def optional_operands(self) -> int:
        """How many operands may be None; with several of them the op records which ones it has."""
        return sum(operand.is_optional for operand in self.operands)

    def takes(self, operands: int) -> bool:
        """Whether its op may have this number of operands."""
        if self.is_variadic:
            return operands >= 1
        return self.arity - self.optional_operands <= operands <= self.arity

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of positional parameters: operands and attributes, in the order of declaration."""
        return tuple(parameter.name for parameter in self.parameters if parameter.is_positional)

    @cached_property
    def has_aliases(self) -> bool:
        """Whether a parameter has further keywords."""
        return any(parameter.aliases for parameter in self.parameters)

    @cached_property
    def keyword_parameters(self) -> Mapping[str, tuple[str, ...]]:
        """Keyword -> names of the parameters that it may set, the one of that name first."""
        found: dict[str, tuple[str, ...]] = {parameter.name: (parameter.name,) for parameter in self.parameters}
        for parameter in self.parameters:
            for alias in parameter.aliases:
                found[alias] = (*found.get(alias, ()), parameter.name)
        return found

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _number(dtype: DataType, value: float, what: str) -> float:
    if not dtype.is_integer:
        return dtype.rounded(as_float32(as_float(value)))
    return dtype.checked_integer(int(value) if isinstance(value, float) and value.is_integer() else value, what)


CAST_HELP = "cast it first: `ttnn.typecast(x, ttnn.int32)`, or to `ttnn.float32`"
"""Help of the error for an element type that only torch and numpy have."""


def torch_function(name: str) -> Callable[..., Any]:
    """A golden that calls torch's function `name`."""
    return lambda torch, *values: getattr(torch, name)(*values)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Operation(Declaration):
    """The declaration of an operation that computes: callable, and tested.

    Attributes:
        golden: An independent statement in torch: ``golden(torch, *operands, *attributes)``.
        probe: The arguments and error bounds of its tests.
        examples: Its test cases, where operands of any shapes and `tested_attributes` are not valid.
        aliases: Further functions of eager ttnn that compute the same; `@jit` refuses them (ttnn.jit document, FAQ).
        synonyms: Further names of the same function in eager ttnn; `@jit` refuses them in source code.
        qualified_name: The ``__name__`` of ttnn's function, where that is one of its other names.
        aten: Its name in torch's ATen; empty where ATen has no such operation.
        operator: Its Python operator, one of `OPERATOR_METHODS`.
        body: For a user's tile operation, the text of the body in the IR (ops/language/tile_body.py); the IR's name is
            ``tile_op``.
        is_local: Whether the body is Python that no other process can identify.
        result_names: The names of several results, which are a tuple; () of one.
        in_place: ttnn also has it under its names with the suffix ``_``, which write the result into an operand.
        in_place_synonyms: Further names of ttnn's in-place form; if its own name is among them, it has no other form.
        written_operand: The index of the operand that the in-place form writes.
        core_for_each: A height-sharded config without cores gets one core for each index of a result before its last
            two dimensions, as in ttnn's operation.
        dtype_operand: Index of the operand that sets the dtype of the result and of numbers (the first tensor after it,
            if it is a number); integers before it may have another dtype.
        is_view: The operation of torch and numpy returns views of its operand (ops/movement/view_rules.py).
        reads_layout: Its results depend on the memory layout of its operands.
        rounds_intermediates: Intermediate values are rounded to the element type of its operands.
        vendor_quirk: The difference between ttnn's results and the function in `summary`; this operation has it too.
            Checked against ttnn's sources of February 2026, to be dropped when ttnn drops it.
        check: ``check(*elements, *attributes)``: raises ShapeError for invalid elements, where they can be read before
            the call runs: eagerly (`ttnn_jit.runtime.elements.elements`). A kernel clamps or skips invalid elements.
        compared_elements: ``compared_elements(torch, results, *operands, *attributes)``: for an operation whose results
            are indices of elements, the values to compare: the elements at the indices, since any index among equal
            elements is correct. Raises ShapeError for an index out of range, or for an invalid repetition.
    """

    golden: Callable[..., Any]
    probe: Probe = field(default_factory=Probe)
    examples: tuple[Example, ...] = ()
    aliases: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    qualified_name: str = ""
    aten: str = ""
    operator: str = ""
    body: str = ""
    is_local: bool = False
    result_names: tuple[str, ...] = ()
    in_place: bool = False
    in_place_synonyms: tuple[str, ...] = ()
    written_operand: int = 0
    core_for_each: bool = False
    dtype_operand: int = 0
    is_view: bool = False
    reads_layout: bool = False
    rounds_intermediates: bool = False
    vendor_quirk: str = ""
    check: Callable[..., None] | None = None
    compared_elements: Callable[..., tuple[Any, ...]] | None = None

    def max_ulp(self, operand: DataType, result: DataType) -> float | None:  # noqa: ARG002 - of some, a declared one
        """The error bound against the golden, in units in the last place of `result`; None: there is no bound.

        Args:
            operand: The element type of the operands.
            result: The element type of the result.
        """
        return None

    @cached_property
    def fingerprint(self) -> str:
        """A text that identifies it in every process that runs this version of the package.

        Operations that share their names differ in their family, in their parameters (`fixed_keywords` included), in
        their element types, or in a user's body.
        """
        parameters = ", ".join(f"{each.name}: {each.annotation} = {each.default!r}" for each in self.parameters)
        dtypes = ", ".join(sorted(dtype.name for dtype in self.dtypes))
        told = (type(self).__name__, self.ttnn_name, f"{self.name}({parameters})", dtypes, self.body)
        return " ".join(filter(None, told))

    @property
    def vendor_quirks(self) -> tuple[str, ...]:
        """Sentences for its help on differences between its results and the mathematical function, which ttnn has."""
        rounded = "On chip targets factors and sums are rounded as the matrix engine's phases do, by `math_fidelity`."
        return tuple(filter(None, (self.vendor_quirk, rounded if self.has_default_precision else "")))

    @property
    def dtypes(self) -> frozenset[DataType]:
        """The element types of its operands."""
        return FLOATS

    @property
    def promotes(self) -> bool:
        """Whether operands of several element types of torch or numpy are promoted to a common one."""
        return False

    @property
    def computes(self) -> bool:
        """Whether its results may be numbers other than 0, 1 and its operands."""
        return False

    def check_operands(self, specs: Sequence[OperandSpec], dtypes: Sequence[Collection[DataType]]) -> None:
        """Check the element type of each tensor against `dtypes`, which has a set for each operand.

        Raises:
            CompileError: An element type is not in the set.
        """
        for operand, spec, allowed in zip(self.operands, specs, dtypes, strict=True):
            if isinstance(spec, TensorSpec) and spec.dtype.unpacked not in allowed:
                taken = f"it takes {', '.join(sorted(dtype.name for dtype in allowed if not dtype.is_foreign))}"
                raise OperandDTypeError(
                    f"`{operand.name}` of `{self.name}` does not take {spec.dtype.name} tensors",
                    help=CAST_HELP if spec.dtype.is_foreign else taken,
                )

    def accepts(self, dtype: DataType) -> bool:
        """Whether it takes tensors of `dtype`; block floats count as the type that they are unpacked to."""
        return dtype.unpacked in self.dtypes

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The result specs without options, for operands and attributes in the declaration's order.

        Args:
            specs: A spec per tensor, a float per number, None per omitted tensor; at least one is a tensor.
            statics: Values of the attributes.

        Raises:
            CompileError: The operands do not fit each other.
        """
        raise NotImplementedError

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Operation, tuple[Any, ...]]:  # noqa: ARG002 - most are canonical as they are called
        """The operation and the canonical attributes of a call; arguments and errors as for `results`."""
        return self, tuple(statics)

    def only_moves(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> bool:  # noqa: ARG002 - of some, a call's
        """Whether a call only moves elements; arguments and errors as for `results`."""
        return False

    @property
    def in_place_names(self) -> tuple[str, ...]:
        """Names of its in-place functions in ttnn."""
        marked = (f"{name}_" for name in (self.name, *self.synonyms, *self.aliases)) if self.in_place else ()
        return (*marked, *self.in_place_synonyms)

    def written_argument(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The argument of a call for the written operand; None if it is missing."""
        written = self.operands[self.written_operand].name
        index = self.parameter_names.index(written)
        if index < len(args):
            return args[index]
        keywords = (keyword for keyword, meant in self.keyword_parameters.items() if meant[0] == written)
        return next((kwargs[keyword] for keyword in keywords if keyword in kwargs), None)

    @property
    def result_count(self) -> int:
        """The number of results."""
        return len(self.result_names) or 1

    @property
    def gives_one_tensor(self) -> bool:
        """Whether a call returns a tensor, and not a tuple or list of several."""
        return self.result_count == 1

    def packed(self, results: Sequence[Any]) -> Any:
        """The return value of a call with these results (tensors, or objects in their place): the one, or a tuple."""
        return results[0] if self.gives_one_tensor else tuple(results)

    @property
    def rules(self) -> str:
        """Sentences for docstrings that hold for every operation of the family."""
        raise NotImplementedError

    @property
    def tested_attributes(self) -> tuple[float, ...]:
        """The attribute values of its tests and benchmarks, as float32."""
        about_zero = tuple(-0.75 + 1.5 * k for k, _ in enumerate(self.attributes))
        return tuple(as_float32(value) for value in self.probe.attributes or about_zero)

    @property
    def has_dtype_property(self) -> bool:
        """Whether the TTNN op prints ``dtype``: binary ops do (ttnn.jit document, step 1)."""
        return self.arity == 2 and not self.attributes

    @property
    def signature(self) -> str:
        """The call as source text, ``clamp(input, min=..., max=...)``."""
        required = [parameter.is_required for parameter in self.parameters]
        by_name = next((index for index, needed in enumerate(required) if needed and not all(required[:index])), None)
        written = [*map(str, self.parameters)]
        if by_name is not None:
            written.insert(by_name, "*")
        return f"{self.name}({', '.join(written)})"

    @property
    def call_text(self) -> str:
        """The call as source text of a program."""
        return self.signature if self.body else f"ttnn.{self.signature}"
