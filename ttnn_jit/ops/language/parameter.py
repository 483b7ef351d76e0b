"""Parameters of operations, each with a name and a kind, and the instances of kinds."""

from __future__ import annotations

import enum
from typing import Any

from ttnn_jit.ops.language.config_kinds import (
    ComputeConfigKind,
    ConvolutionPrecisionKind,
    PrecisionKind,
    ProgramConfigKind,
)
from ttnn_jit.ops.language.kinds import (
    ActivationKind,
    AxesKind,
    BoolKind,
    ChoiceKind,
    ConfigKind,
    DTypeKind,
    ElementTypeKind,
    FlagKind,
    FloatKind,
    FloatsKind,
    IndexKind,
    IndicesKind,
    IntKind,
    Kind,
    LayoutKind,
    LimitKind,
    MemberKind,
    NameKind,
    NumberKind,
    OptionalFloatKind,
    OptionalIndexKind,
    OptionalTensorKind,
    PairsKind,
    TensorKind,
    TensorsKind,
)
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType

TENSOR = TensorKind("Tensor", "a tensor")
TENSOR_OR_NUMBER = TensorKind("Tensor | float", "a tensor or a number", or_number=True)
TENSOR_PER_CHANNEL = TensorKind("Tensor | float", "a tensor or a number", or_number=True, per_channel=True)
OPTIONAL_TENSOR = OptionalTensorKind("Tensor | None", "a tensor or None", accepts_none=True)
TENSORS = TensorsKind("Sequence[Tensor]", "a tensor")
FLOAT = FloatKind("float", "a number")
FLOATS_LISTED = FloatsKind("Sequence[float]", "numbers in a list or tuple", "array<f32>")
OPTIONAL_FLOAT = OptionalFloatKind("float | None", "a number or None", accepts_none=True)
LIMIT = LimitKind("float", "a number")
BOOL = BoolKind("bool", "a number")
DIMENSION = IndexKind("int", "a whole number", "si32")
SIGNLESS = IndexKind("int", "a whole number", "i32")
OPTIONAL_COUNT = OptionalIndexKind("int | None", "a whole number or None", "si32", accepts_none=True)
CLUSTER_AXIS = OptionalIndexKind("int | None", "an axis of the mesh or None", "ui32", accepts_none=True)
REPLICA_GROUPS = Kind("Sequence[Sequence[int]]", "groups of device numbers", "rows of i64")
REDUCE_TYPE = NameKind("str | None", "a reduction", "#ttcore.reduce_type", accepts_none=True)
SHARD_TYPE = NameKind("str", "a kind of sharding", "#ttcore.shard_type")
SHARD_DIRECTION = NameKind("str", "a direction of sharding", "#ttcore.shard_direction")
DIMENSIONS = IndicesKind("Sequence[int]", "whole numbers in a list or tuple", "array<i64>")
EXTENTS = IndicesKind("Sequence[int]", "whole numbers in a list or tuple", "[i32]")
PAIRS = PairsKind("Sequence[tuple[int, int]]", "a pair of whole numbers for every dimension", "array<i32> of pairs")
EXTENT_ARRAY = IndicesKind("Sequence[int]", "whole numbers in a list or tuple", "array<i32>")
NUMBER = NumberKind("float", "a number", "number")
AXES = AxesKind(
    "int | Sequence[int] | None", "a whole number, or several in a list or tuple", "[i32]", accepts_none=True
)
LAYOUT = LayoutKind("Layout", "a layout", "#ttnn.layout")
OPTIONAL_LAYOUT = LayoutKind("Layout | None", "a layout or None", "#ttnn.layout", accepts_none=True)
FLAG = FlagKind("bool", "True or False", "i1")
NAME = NameKind("str | None", "a name or None", "string", accepts_none=True)
ACTIVATION = ActivationKind(
    "str | object | None", "the name of an activation, a `ttnn.UnaryWithParam` or None", "string", accepts_none=True
)
CHOICE = ChoiceKind("str | None", accepts_none=True)
CONFIG = ConfigKind("MemoryConfig | None", accepts_none=True)
DTYPE = DTypeKind("DataType | None", accepts_none=True)
ELEMENT_TYPE = ElementTypeKind("DataType", property_type="#ttcore.supportedDataTypes")
OUTPUT = Kind("Tensor | None", accepts_none=True)
OUTPUT_OF_SEVERAL = Kind("Tensor | None", "a tensor to write into", accepts_none=True)
RESULT_MASK = Kind("Sequence[bool] | None", accepts_none=True)
ACTIVATIONS = Kind("Sequence[str | Callable[..., Any]] | None", accepts_none=True)
IGNORED = Kind("object", accepts_none=True)
COMPUTE_CONFIG = ComputeConfigKind("object", accepts_none=True)
PRECISION = PrecisionKind("object", "a compute kernel config or None", "precision", accepts_none=True)
CONVOLUTION_PRECISION = ConvolutionPrecisionKind(
    "object", "a compute kernel config or None", "precision", accepts_none=True
)
PROGRAM_CONFIG = ProgramConfigKind("object", accepts_none=True)


def members(enumeration: type[enum.Enum]) -> MemberKind:
    """The kind of the members of an enumeration of ttnn."""
    return MemberKind(enumeration.__name__, f"a {enumeration.__name__}", "string", members=enumeration)


def integers(first: int, last: int) -> IntKind:
    """The kind of the integers from `first` to `last`."""
    return IntKind("int", f"an integer from {first} to {last}", values=range(first, last + 1))


@dataclass(frozen=True)
class Parameter:
    """One parameter of an operation.

    Attributes:
        name: The keyword.
        kind: The kind of its values.
        default: The default; None: an argument is required, unless the kind accepts None.
        aliases: Further keywords of it in versions of ttnn. An alias that is also the name of another parameter sets
            the other one, unless the call sets that already.
        ir_name: The name of the property; if empty, `name`.
        tensor: The operand that may hold the numbers instead; eager calls use it, so one program serves all values.
        spellings: Further names of its attribute in texts of tt-mlir (ops/families/text_operation.py).
    """

    name: str
    kind: Kind
    default: Any = None
    aliases: tuple[str, ...] = ()
    ir_name: str = ""
    tensor: str = ""
    spellings: tuple[str, ...] = ()

    @property
    def property_name(self) -> str:
        """The name of its property in the IR."""
        return self.ir_name or self.name

    @property
    def is_operand(self) -> bool:
        """Whether the op has an operand for it."""
        return isinstance(self.kind, TensorKind)

    @property
    def may_be_open(self) -> bool:
        """Whether a template may leave an int open that is its value: a number to compute with, and no size."""
        return self.is_operand or isinstance(self.kind, NumberKind)

    @property
    def is_positional(self) -> bool:
        """Whether it accepts a positional argument: an operand or an attribute."""
        return self.is_operand or bool(self.kind.property_type)

    @property
    def is_optional(self) -> bool:
        """Whether the operand or property may be None; the op lacks it then."""
        return self.kind.omits_none or (self.kind.accepts_none and isinstance(self.kind, LayoutKind))

    @property
    def is_choice(self) -> bool:
        """Whether it only selects among overloads."""
        return isinstance(self.kind, ChoiceKind)

    @property
    def is_required(self) -> bool:
        """Whether a call needs an argument for it."""
        return self.default is None and not self.kind.accepts_none

    @property
    def annotation(self) -> str:
        """The Python type of an argument."""
        return self.kind.annotation_of(self.default)

    def default_of(self, dtype: DataType) -> Any:
        """The default beside tensors of `dtype`."""
        return self.kind.default_of(self.default, dtype)

    def __str__(self) -> str:
        """Its text in a signature, ``slope=0.01``."""
        return self.name if self.is_required else f"{self.name}={self.kind.text(self.default)}"


REDUCED = (
    Parameter("input_tensor", TENSOR, aliases=("input", "input_tensor_a")),
    Parameter("dim", AXES, aliases=("dims",), ir_name="dim_arg"),
    Parameter("keepdim", FLAG, default=False, aliases=("keep_dim",), ir_name="keep_dim"),
)
"""Parameters of every operation that reduces dimensions."""
