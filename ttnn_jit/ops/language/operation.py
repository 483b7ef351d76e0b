"""What an operation is: the one declaration from which dialects, frontends, eager API, kernels and tests derive."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import OperandDTypeError
from ttnn_jit.ops.language.config_kinds import PrecisionKind
from ttnn_jit.ops.language.kinds import NumberKind, TensorsKind, as_float32
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
"""Operator of Python's that an operation may declare -> the special method behind it."""

_REFLECTED = ("+", "-", "*", "/", "**", "&", "|", "^", "<<", ">>")
REFLECTED_METHODS = {symbol: OPERATOR_METHODS[symbol].replace("__", "__r", 1) for symbol in _REFLECTED}
"""The same for a number on the left; comparisons are their own mirror images."""


Example = tuple[tuple[tuple[int, ...] | None, ...], tuple[Any, ...]]
"""Shapes, one per operand, None for one that is not given; and attributes."""

OperandSpec: TypeAlias = TensorSpec | float | None
"""What is known of an operand: a tensor's spec, a number, or None where an optional tensor is not given."""


@dataclass(frozen=True)
class Probe:
    """Where and how well an operation is tested.

    Attributes:
        domain: Interval of random arguments, beside the special values that every operation is given.
        max_ulp: Bound against the golden in float64, in units in the last place of float32; 0 means correctly rounded.
        max_ulp_bf16: The same for bfloat16 operands and results; 0 means correctly rounded for all inputs. Half a unit
            and a hundredth is what a float32 result within its own bound gives when it is rounded once more.
        max_absolute: An error up to this is within the bound whatever its units: for results that cross zero where no
            argument is exact.
        attributes: The values that attributes are tested with; a sequence about zero if empty.
    """

    domain: tuple[float, float] = (-10.0, 10.0)
    max_ulp: float = 0.0
    max_ulp_bf16: float = 0.0
    max_absolute: float = 0.0
    attributes: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Declaration:
    """What declarations of every family have in common.

    Attributes:
        name: The Python name, ``ttnn.<name>``; of a submodule's with a dot, ``transformer.concatenate_heads``. Several
            declarations may share one (``clamp`` by scalars, by tensors).
        summary: One sentence for docstrings and tables.
        source: Where the semantics come from: by default ttnn's operation of that name.
        parameters: Operands, then compile-time values, then what tells declarations of one name apart.
        ttnn_name: Name in the TTNN dialect, without the dialect: by default the last part of `name`; likewise
            `ttir_name`, by default the same, and `tile_name` in d2m, by default that behind ``tile_``.
    """

    name: str
    summary: str
    source: str = ""
    parameters: tuple[Parameter, ...] = ()
    ttnn_name: str = ""
    ttir_name: str = ""
    tile_name: str = ""

    def __post_init__(self) -> None:
        for attribute, default in (
            ("source", "ttnn.{0.name}"),
            ("ttnn_name", self.name.rpartition(".")[2]),
            ("ttir_name", "{0.ttnn_name}"),
            ("tile_name", "tile_{0.ttir_name}"),
        ):
            if not getattr(self, attribute):
                object.__setattr__(self, attribute, default.format(self))

    @cached_property
    def operands(self) -> tuple[Parameter, ...]:
        """The parameters that are operands, in order."""
        return tuple(parameter for parameter in self.parameters if parameter.is_operand)

    @cached_property
    def attributes(self) -> tuple[Parameter, ...]:
        """The parameters that are properties: compile-time values, in order."""
        return tuple(parameter for parameter in self.parameters if parameter.kind.property_type)

    def with_numbers_of(self, dtype: DataType, statics: Sequence[Any]) -> tuple[Any, ...]:
        """The values of the attributes, numbers among them as tensors of `dtype` hold them.

        Raises:
            ArgumentError: `dtype` is one of integers, and a number none of them.
        """
        return tuple(
            _number(dtype, value, f"`{attribute.name}`") if isinstance(attribute.kind, NumberKind) else value
            for attribute, value in zip(self.attributes, statics, strict=True)
        )

    @cached_property
    def chosen_by(self) -> Mapping[str, Any]:
        """Keywords that may be given with these values only: they tell declarations of one name apart."""
        return {parameter.name: parameter.default for parameter in self.parameters if parameter.is_choice}

    @cached_property
    def precision_index(self) -> int | None:
        """Which attribute says how exactly a chip multiplies; None if none does."""
        kinds = (attribute.kind for attribute in self.attributes)
        return next((index for index, kind in enumerate(kinds) if isinstance(kind, PrecisionKind)), None)

    @cached_property
    def has_default_precision(self) -> bool:
        """Whether it multiplies as a chip does where its caller does not say how."""
        return any(isinstance(each.kind, PrecisionKind) and each.kind.has_defaults for each in self.attributes)

    @property
    def arity(self) -> int:
        """Number of tensor operands."""
        return len(self.operands)

    @cached_property
    def is_variadic(self) -> bool:
        """Whether it takes any number of tensors, in a list."""
        return any(isinstance(parameter.kind, TensorsKind) for parameter in self.parameters)

    @cached_property
    def optional_operands(self) -> int:
        """How many operands may be None; where it is several, the op says which are there."""
        return sum(operand.is_optional for operand in self.operands)

    def takes(self, operands: int) -> bool:
        """Whether its op may have so many operands."""
        if self.is_variadic:
            return operands >= 1
        return self.arity - self.optional_operands <= operands <= self.arity

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of what may be given by position: operands and attributes, as they are declared."""
        return tuple(parameter.name for parameter in self.parameters if parameter.is_positional)

    @cached_property
    def has_aliases(self) -> bool:
        """Whether a parameter has further keywords."""
        return any(parameter.aliases for parameter in self.parameters)

    @cached_property
    def named_by(self) -> Mapping[str, tuple[str, ...]]:
        """Keyword -> names of the parameters that it may stand for, the one of that name first."""
        found: dict[str, tuple[str, ...]] = {parameter.name: (parameter.name,) for parameter in self.parameters}
        for parameter in self.parameters:
            for alias in parameter.aliases:
                found[alias] = (*found.get(alias, ()), parameter.name)
        return found

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def _number(dtype: DataType, value: float, what: str) -> float:
    if not dtype.is_integer:
        return dtype.rounded(as_float32(float(value)))
    return dtype.checked_integer(int(value) if isinstance(value, float) and value.is_integer() else value, what)


CAST_HELP = "cast it first: `ttnn.typecast(x, ttnn.int32)`, or to `ttnn.float32`"
"""What to do where an operation does not take an element type that torch and numpy alone have."""


def torch_function(name: str) -> Callable[..., Any]:
    """The golden that is torch's function of that name."""
    return lambda torch, *values: getattr(torch, name)(*values)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Operation(Declaration):
    """A declaration that computes: it may be called, and is tested.

    Attributes:
        golden: An independent statement in torch: ``golden(torch, *operands, *attributes)``.
        probe: How it is tested.
        examples: What it is tested with, where operands of any shapes and `tested_attributes` would not do.
        aliases: Further functions of eager ttnn that compute the same; `@jit` refuses them (ttnn.jit document, FAQ).
        synonyms: Further names that eager ttnn has for the same function; `@jit` refuses them where they are written.
        qualified_name: What ttnn's function calls itself, where that is one of its other names.
        aten: Its name in torch's ATen; empty where that has no such operation.
        operator: The Python operator that spells it, one of `OPERATOR_METHODS`.
        body: Of a user's tile operation, the body as the IR spells it (ops/language/tile_body.py); the IR's name is
            ``tile_op``.
        is_local: Whether that is Python that no other process could recognise.
        result_count: How many results it has; several are a tuple.
        in_place: ttnn has it under its names with ``_`` behind, too: they write the result into an operand.
        written_as: Further names of ttnn that write the result into an operand; where its own is one of them, it has
            no other form.
        written_operand: Which operand these write.
        core_for_each: Where a height-sharded config says no cores, each index of a result before its last two
            dimensions has one, as ttnn's operation of that name does by itself.
        dtype_from: Index of the operand whose dtype the result and numbers have (the first tensor after it, if that
            is a number); integers before it may be of another.
        is_view: Torch's and numpy's operation of that kind gives views, in their operand's memory
            (ops/movement/view_rules.py).
        reads_layout: Its numbers depend on where its operands lie.
        rounds_steps: Between its parts values are rounded to the type of its operands.
        imitates: What ttnn computes otherwise than the function that `summary` names, and this operation after it;
            checked against ttnn's sources of February 2026, and dropped where ttnn drops it.
        check: ``check(*elements, *attributes)``: refuses elements that no call should have, by ShapeError, where they
            can be read before it runs: eagerly (`ttnn_jit.runtime.elements.elements`). A kernel takes them for the
            nearest that it can, or for none.
        by_elements: ``by_elements(torch, results, *operands, *attributes)``: of an operation that names indices of
            elements, what its results are judged by, for of equal elements any index is right: in place of indices the
            elements there. Raises ShapeError where an index names none, or one twice that it may name once.
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
    result_count: int = 1
    in_place: bool = False
    written_as: tuple[str, ...] = ()
    written_operand: int = 0
    core_for_each: bool = False
    dtype_from: int = 0
    is_view: bool = False
    reads_layout: bool = False
    rounds_steps: bool = False
    imitates: str = ""
    check: Callable[..., None] | None = None
    by_elements: Callable[..., tuple[Any, ...]] | None = None

    def max_ulp(self, operand: DataType, result: DataType) -> float | None:  # noqa: ARG002 - of some, a declared one
        """How far an element may be from the golden, in units in the last place of `result`; None: nothing is stated.

        Args:
            operand: The element type that it computes with.
            result: That of its result.
        """
        return None

    @cached_property
    def fingerprint(self) -> str:
        """What tells it from every other operation, in every process that runs this version of the package.

        Operations of one name, and of one name in the IR, differ in their family, in their parameters (of which some
        must have one value, `chosen_by`), in the element types that they take, or in a user's body.
        """
        parameters = ", ".join(f"{each.name}: {each.annotation} = {each.default!r}" for each in self.parameters)
        dtypes = ", ".join(sorted(dtype.name for dtype in self.dtypes))
        told = (type(self).__name__, self.ttnn_name, f"{self.name}({parameters})", dtypes, self.body)
        return " ".join(filter(None, told))

    @property
    def imitations(self) -> tuple[str, ...]:
        """What is ttnn's of its results and not the function's: sentences for its help."""
        rounded = "On chip targets factors and sums are rounded as the matrix engine's phases do, by `math_fidelity`."
        return tuple(filter(None, (self.imitates, rounded if self.has_default_precision else "")))

    @property
    def dtypes(self) -> frozenset[DataType]:
        """The element types that it takes."""
        return FLOATS

    @property
    def promotes(self) -> bool:
        """Whether tensors and numbers of several types of torch's or numpy's meet in one."""
        return False

    @property
    def computes(self) -> bool:
        """Whether its results are other numbers than 0, 1 and those of its operands."""
        return False

    def check_operands(self, specs: Sequence[OperandSpec], dtypes: Sequence[Collection[DataType]]) -> None:
        """Refuses tensors of other element types than `dtypes` has for each operand.

        Raises:
            CompileError: There is one.
        """
        for operand, spec, allowed in zip(self.operands, specs, dtypes, strict=True):
            if isinstance(spec, TensorSpec) and spec.dtype.unpacked not in allowed:
                taken = f"it takes {', '.join(sorted(dtype.name for dtype in allowed if not dtype.is_foreign))}"
                raise OperandDTypeError(
                    f"`{operand.name}` of `{self.name}` does not take {spec.dtype.name} tensors",
                    help=CAST_HELP if spec.dtype.is_foreign else taken,
                )

    def accepts(self, dtype: DataType) -> bool:
        """Whether it takes tensors of `dtype`: block floats where it takes what they are unpacked to."""
        return dtype.unpacked in self.dtypes

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """What it results in, by rule, for operands and attributes in the declaration's order.

        Args:
            specs: A spec for every tensor, a float for every number, None where no tensor is given; one is a tensor.
            statics: Values of the attributes.

        Raises:
            CompileError: The operands do not fit each other.
        """
        raise NotImplementedError

    def canonicalized(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[Operation, tuple[Any, ...]]:  # noqa: ARG002 - most are canonical as they are called
        """The operation and the canonical attributes of a call; arguments and errors as for `results`."""
        return self, tuple(statics)

    def only_moves(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> bool:  # noqa: ARG002 - of some, a call's
        """Whether a call moves elements and computes none; arguments and errors as for `results`."""
        return False

    @property
    def names_in_place(self) -> tuple[str, ...]:
        """Names of ttnn whose call writes the result into an operand."""
        marked = (f"{name}_" for name in (self.name, *self.synonyms, *self.aliases)) if self.in_place else ()
        return (*marked, *self.written_as)

    def argument_written(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a call gives for the operand that is written; None if nothing."""
        written = self.operands[self.written_operand].name
        index = self.parameter_names.index(written)
        if index < len(args):
            return args[index]
        keywords = (keyword for keyword, meant in self.named_by.items() if meant[0] == written)
        return next((kwargs[keyword] for keyword in keywords if keyword in kwargs), None)

    @property
    def gives_one_tensor(self) -> bool:
        """Whether a call gives a tensor, and not several in a tuple or list."""
        return self.result_count == 1

    def packed(self, results: Sequence[Any]) -> Any:
        """What a call gives of its results, which may be tensors or whatever stands for them: the one, or a tuple."""
        return results[0] if self.gives_one_tensor else tuple(results)

    @property
    def rules(self) -> str:
        """What is true of every operation of the family, for docstrings."""
        raise NotImplementedError

    @property
    def tested_attributes(self) -> tuple[float, ...]:
        """The attributes that the operation is tested and measured with, as float32."""
        about_zero = tuple(-0.75 + 1.5 * k for k, _ in enumerate(self.attributes))
        return tuple(as_float32(value) for value in self.probe.attributes or about_zero)

    @property
    def has_dtype_property(self) -> bool:
        """Whether the TTNN op prints ``dtype``: binary ops do (ttnn.jit document, step 1)."""
        return self.arity == 2 and not self.attributes

    @property
    def signature(self) -> str:
        """The call as it is written, ``clamp(input, min=..., max=...)``."""
        required = [parameter.is_required for parameter in self.parameters]
        by_name = next((index for index, needed in enumerate(required) if needed and not all(required[:index])), None)
        written = [*map(str, self.parameters)]
        if by_name is not None:
            written.insert(by_name, "*")
        return f"{self.name}({', '.join(written)})"

    @property
    def call_text(self) -> str:
        """The call as it stands in a program."""
        return self.signature if self.body else f"ttnn.{self.signature}"
