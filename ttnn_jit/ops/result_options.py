"""The result options of a call: where the result lies, its element type, functions behind it.

One value, `ResultOptions`, made of the keywords of a call by `bind_options`: for eager calls, for those of both
frontends, and for goldens.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.applied_unary import AppliedUnary, activation_of, activations_of
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.language.binding import BoundCall
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.language.parameter import (
    ACTIVATIONS,
    COMPUTE_CONFIG,
    CONFIG,
    DTYPE,
    IGNORED,
    OUTPUT,
    OUTPUT_OF_SEVERAL,
    PROGRAM_CONFIG,
    WANTED,
    Parameter,
)
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import shown
from ttnn_jit.specs.cores.memory_config import TensorMemoryLayout
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, MemoryConfig, TensorSpec, checked

RESULT_PARAMETERS = (
    Parameter("memory_config", CONFIG),
    Parameter("output_mem_config", CONFIG),
    Parameter("dtype", DTYPE),
    Parameter("output_tensor", OUTPUT),
    Parameter("optional_output_tensor", OUTPUT),
    Parameter("activations", ACTIVATIONS),
)
"""What every operation takes besides its own, by keyword, about its result."""
RESULT_KEYWORDS = tuple(parameter.name for parameter in RESULT_PARAMETERS)
OPERAND_PARAMETERS = (
    Parameter("input_tensor_a_activations", ACTIVATIONS),
    Parameter("input_tensor_b_activations", ACTIVATIONS),
)
"""What operations of two operands take besides, by keyword, about these."""
GRADIENT_PARAMETERS = (
    Parameter("input_grad", OUTPUT_OF_SEVERAL, aliases=("output_tensor", "input_a_grad")),
    Parameter("other_grad", OUTPUT_OF_SEVERAL, aliases=("input_b_grad",)),
    Parameter("are_required_outputs", WANTED),
)
"""What gradients declare besides their own: which of them are wanted, and what the first two are written into."""
HARDWARE_PARAMETERS = (
    Parameter("accurate_mode", IGNORED),
    Parameter("compute_kernel_config", COMPUTE_CONFIG),
    Parameter("core_grid", IGNORED),
    Parameter("cq_id", IGNORED),
    Parameter("fast_and_approximate_mode", IGNORED),
    Parameter("global_cb", IGNORED),
    Parameter("program_config", PROGRAM_CONFIG),
    Parameter("queue_id", IGNORED),
    Parameter("reshape_tile_mode", IGNORED),
    Parameter("sub_core_grids", IGNORED),
    Parameter("sub_device_id", IGNORED),
    Parameter("use_legacy", IGNORED),
    Parameter("use_multicore", IGNORED),
    Parameter("vector_mode", IGNORED),
)
"""Keywords of ttnn's operations that choose among ways to compute the same on a chip: checked, and without effect."""
HARDWARE_KEYWORDS = tuple(parameter.name for parameter in HARDWARE_PARAMETERS)
QUEUE_KEYWORDS = ("queue_id", "cq_id")
"""Keywords for the command queue of a call, which every operation of ttnn takes, those of the host API too."""

_OF_ALL = {parameter.name: parameter for parameter in (*RESULT_PARAMETERS, *OPERAND_PARAMETERS, *HARDWARE_PARAMETERS)}
_SAME_BY_ANY_NAME = {CONFIG: "memory_config", OUTPUT: "output_tensor"}
"""Kinds of parameters that are one option by whatever name a call or a declaration has for it."""
OF_SEVERAL = {OUTPUT_OF_SEVERAL, WANTED}
"""Kinds of parameters that ask something of each of several results."""
_OPTIONS = {*_SAME_BY_ANY_NAME, *OF_SEVERAL}
"""Kinds of parameters of operations that are options."""


@dataclass(frozen=True)
class Outputs:
    """The options of each result of a call that gives several.

    Attributes:
        targets: What they are written into and what is given for them, in their order; None: a tensor of its own.
        wanted: Which are given, where others are None; None: all.
    """

    targets: tuple[Any, ...]
    wanted: Sequence[bool] | None

    def check(self, name: str, is_tensor: Callable[[Any], bool]) -> None:
        """Refuse targets that are no tensors.

        Raises:
            ArgumentError: One is none.
        """
        for parameter, target in zip(GRADIENT_PARAMETERS, self.targets, strict=False):
            if target is not None and not is_tensor(target):
                raise ArgumentError(f"{name}: `{parameter.name}` must be a tensor, got {shown(target)}")

    def given(self, name: str, results: Sequence[Any], write: Callable[[Any, Any], Any]) -> list[Any]:
        """What a call of `name` gives; `write` gives the first of its arguments, which holds the second then.

        Raises:
            ArgumentError: There are fewer results than targets, or not as many as are said to be wanted.
        """
        wanted = [True] * len(results) if self.wanted is None else self.wanted
        if not isinstance(wanted, list | tuple) or {*map(type, wanted)} - {bool} or len(wanted) < len(results):
            says = f"says True or False for each of {len(results)} gradients"
            raise ArgumentError(f"{name}: `are_required_outputs` {says}, got {shown(wanted)}")
        targets = [*self.targets, *[None] * len(results)]
        if any(target is not None for target in self.targets[len(results) :]):
            raise ArgumentError(f"{name} gives one gradient, and `{GRADIENT_PARAMETERS[1].name}` is for a second")
        found = zip(results, wanted, targets, strict=False)
        return [
            None if not is_wanted else each if target is None else write(target, each)
            for each, is_wanted, target in found
        ]


@dataclass(frozen=True)
class ResultOptions:
    """The options that a call has for its result; None, or nothing, leaves it to the operation.

    Attributes:
        memory_config: Where it lies; None: where the first tensor does.
        dtype: Its element type, to which it is rounded once.
        output_tensor: The tensor to write it into and to return: eager calls have one of ttnn's, programs their own.
        activations: Unary operations that it goes through before it is rounded.
        operand_activations: Those that the first operands go through before the operation, for each of them.
        in_place: It is written into the operand that the declaration says.
        outputs: Options of each of several results; None: there are none.
        queues: The command queues that are named for the call.
        has_grid: A chip is told which cores to use, for which products of matrices have another precision.
    """

    memory_config: MemoryConfig | None = None
    dtype: DataType | None = None
    output_tensor: Any = None
    activations: tuple[AppliedUnary, ...] = ()
    operand_activations: tuple[tuple[AppliedUnary, ...], ...] = ()
    in_place: bool = False
    outputs: Outputs | None = None
    queues: tuple[Any, ...] = ()
    has_grid: bool = False

    @property
    def has_activations(self) -> bool:
        """Whether several operations run in the one call."""
        return bool(self.activations) or any(self.operand_activations)

    @property
    def change_nothing(self) -> bool:
        """Whether the result is what it would be without any."""
        of_result = (self.memory_config, self.dtype, self.output_tensor)
        return all(each is None for each in of_result) and not self.has_activations

    @property
    def key(self) -> Hashable:
        """What tells its programs from others of a call; None where it changes nothing."""
        return None if self.change_nothing else (self.memory_config, *self.parts.values())

    @property
    def parts(self) -> dict[str, Hashable]:
        """What decides the program beside `memory_config`, by name: parts of keys, in memory and on disk."""
        return {
            "dtype": self.dtype,
            "activations": tuple(each.key for each in self.activations),
            "operand activations": tuple(tuple(each.key for each in of_one) for of_one in self.operand_activations),
            "in place": self.in_place,
        }

    def settled(self, name: str, bound: BoundCall, is_tensor: Callable[[Any], bool]) -> ResultOptions:
        """The options of the call `bound` of `name`, checked; those of an `output_tensor` are its own.

        Raises:
            ArgumentError: It says nothing of several results, or of what is computed with; or two of it disagree.
        """
        operation = bound.operation
        if self.output_tensor is not None and not is_tensor(self.output_tensor):
            raise ArgumentError(f"{name}: `output_tensor` must be a tensor, got {self.output_tensor!r}")
        of_one = {"dtype": self.dtype, "activations": self.activations or None, "output_tensor": self.output_tensor}
        for option in () if operation.gives_one_tensor else of_one:
            if of_one[option] is not None:
                raise ArgumentError(
                    f"`{option}` says nothing of `{operation.name}`, which has several results",
                    help="leave it out, and call `ttnn.typecast` or `ttnn.copy` for each of them",
                )
        takes = isinstance(operation, Elementwise) and operation.arity > 1
        for parameter, index, applied in zip(OPERAND_PARAMETERS, (0, 1), self.operand_activations, strict=False):
            if applied and not (takes and is_tensor(bound.operands[index])):
                raise ArgumentError(
                    f"{name}: `{parameter.name}` applies to a tensor of an elementwise operation of two",
                    help="apply the operation yourself, before the call",
                )
        return self if self.output_tensor is None else self.into(name, self.output_tensor)

    def into(self, name: str, output: Any) -> ResultOptions:
        """The options of a call of `name` whose result is written into `output`: its memory config and dtype.

        Raises:
            ArgumentError: The call says otherwise.
        """
        if self.output_tensor is not None and self.output_tensor is not output:
            raise ArgumentError(f"{name} writes into its operand, and has no `output_tensor`")
        config, own = self.memory_config, output.spec.memory_config
        if config and (
            own == HOST_MEMORY_CONFIG or (config.lacks_shard_spec and config.memory_layout is own.memory_layout)
        ):
            config = None
        written = "the operand that is written" if self.output_tensor is None else "`output_tensor`"
        for keyword, requested, has in (("memory_config", config, own), ("dtype", self.dtype, output.spec.dtype)):
            if requested is not None and requested != has:
                raise ArgumentError(f"{name}: `{keyword}` and {written} disagree: {requested} and {has}")
        return replace(self, memory_config=own, dtype=output.spec.dtype, output_tensor=output)

    def placement(
        self, operation: Operation, first: TensorSpec, grid: tuple[int, int]
    ) -> Callable[[TensorSpec], MemoryConfig] | None:
        """From the spec of a result by rule to where it lies; None: there.

        A `memory_config` may say how the result is cut, and not over which cores: those are the operand's, or the
        device's.

        Args:
            operation: Is called.
            first: Its first operand.
            grid: Rows and columns of cores of the device.
        """
        chosen = self.memory_config
        if chosen is None:
            return None
        if not chosen.lacks_shard_spec:
            return lambda _: chosen
        from ttnn_jit.specs.cores.core_sets import core_for_each, with_cores
        from ttnn_jit.specs.cores.cores import CoreRange, CoreRangeSet

        own = first.memory_config
        is_alike = (own.memory_layout, own.buffer_type) == (chosen.memory_layout, chosen.buffer_type)
        if operation.core_for_each and chosen.memory_layout is TensorMemoryLayout.HEIGHT_SHARDED:
            return lambda spec: core_for_each(spec.shape, grid, chosen.buffer_type)
        if isinstance(operation, Elementwise):
            return lambda _: own if is_alike else chosen
        cores = own.shard_spec.grid if own.shard_spec else CoreRangeSet(CoreRange((0, 0), (grid[1] - 1, grid[0] - 1)))
        return lambda spec: (
            own if is_alike and spec.shape == first.shape else with_cores(chosen, spec.padded_shape, cores)
        )

    def spec(self, by_rule: TensorSpec, operation: Operation, first: TensorSpec, grid: tuple[int, int]) -> TensorSpec:
        """What the result is that is `by_rule` without options; arguments as for `placement`.

        Raises:
            GridError, LayoutError: The memory config does not hold it.
        """
        placement = self.placement(operation, first, grid)
        config = by_rule.memory_config if placement is None else placement(by_rule)
        return checked(by_rule.with_(dtype=self.dtype or by_rule.dtype, memory_config=config))


NO_OPTIONS = ResultOptions()
"""What most calls ask."""


def bind_options(
    name: str, overloads: Iterable[Operation], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any], ResultOptions]:
    """The keywords of a call of `name` that are its operation's own, or nobody's, and what the others ask.

    Args:
        name: As errors say it.
        overloads: Declarations that share the name.
        kwargs: All keywords of the call.

    Raises:
        ArgumentError: A value is of another kind, or given by two names.
    """
    own: dict[str, Any] = {}
    given: dict[str, tuple[str, Any]] = {}
    for keyword, value in kwargs.items():
        option = option_of(overloads, keyword)
        if option is None:
            own[keyword] = value
            if value is not None and keyword in _OF_ALL:  # an operation's own may be a text of the IR as well
                _OF_ALL[keyword].kind.bind(value, None, f"`{keyword}`")
        elif value is not None:
            field = _SAME_BY_ANY_NAME.get(option.kind, option.name)
            if field in given:
                raise ArgumentError(f"{name}: `{given[field][0]}` and `{keyword}` are two names of one argument")
            given[field] = keyword, option.kind.bind(value, None, f"`{keyword}`")
    return own, _options(name, {field: value for field, (_, value) in given.items()}) if given else NO_OPTIONS


def option_of(overloads: Iterable[Operation], keyword: str) -> Parameter | None:
    """The option that `keyword` of a call names; None where it is an operation's own, or nobody's."""
    parameters = (each for operation in overloads for each in operation.parameters)
    named = (each for each in parameters if keyword == each.name or (keyword in each.aliases and each.kind in _OPTIONS))
    declared = next(named, None)
    if declared is None:
        return _OF_ALL.get(keyword)
    return declared if declared.kind in _OPTIONS else None


def _options(name: str, given: Mapping[str, Any]) -> ResultOptions:
    fused = getattr(given.get("program_config"), "fused_activation", None)
    targets, wanted = tuple(given.get(each.name) for each in GRADIENT_PARAMETERS[:2]), given.get("are_required_outputs")
    of_operands = tuple(activations_of(name, each.name, given.get(each.name)) for each in OPERAND_PARAMETERS)
    return ResultOptions(
        memory_config=given.get("memory_config"),
        dtype=given.get("dtype"),
        output_tensor=given.get("output_tensor"),
        activations=(
            *activations_of(name, "activations", given.get("activations")),
            *(() if fused is None else (activation_of(fused),)),
        ),
        operand_activations=of_operands if any(of_operands) else (),
        outputs=None if wanted is None and not any(each is not None for each in targets) else Outputs(targets, wanted),
        queues=tuple(given[each] for each in QUEUE_KEYWORDS if each in given),
        has_grid=not given.keys().isdisjoint(("program_config", "core_grid")),
    )
