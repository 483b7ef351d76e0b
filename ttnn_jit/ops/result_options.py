"""The result options of a call: memory config, element type, output tensor and fused activations.

`bind_options` makes one `ResultOptions` of the keywords of a call: for eager calls, both frontends and goldens.
"""

from __future__ import annotations

import itertools
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
    RESULT_MASK,
    Parameter,
)
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import shown
from ttnn_jit.specs.cores.memory_config import TensorMemoryLayout
from ttnn_jit.specs.spec_forms import config_form, with_shard_shape
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, MemoryConfig, TensorSpec, checked

RESULT_PARAMETERS = (
    Parameter("memory_config", CONFIG),
    Parameter("output_mem_config", CONFIG),
    Parameter("dtype", DTYPE),
    Parameter("output_tensor", OUTPUT),
    Parameter("optional_output_tensor", OUTPUT),
    Parameter("activations", ACTIVATIONS),
)
"""Keywords of every operation that concern its result."""
RESULT_KEYWORDS = tuple(parameter.name for parameter in RESULT_PARAMETERS)
OPERAND_PARAMETERS = (
    Parameter("input_tensor_a_activations", ACTIVATIONS),
    Parameter("input_tensor_b_activations", ACTIVATIONS),
)
"""Further keywords of binary operations, which concern their operands."""
GRADIENT_PARAMETERS = (
    Parameter("input_grad", OUTPUT_OF_SEVERAL, aliases=("output_tensor", "input_a_grad")),
    Parameter("other_grad", OUTPUT_OF_SEVERAL, aliases=("input_b_grad",)),
    Parameter("are_required_outputs", RESULT_MASK),
)
"""Parameters of every gradient: output tensors of the first two results, and which results to return."""
OUTPUT_KEYWORDS = frozenset(
    name
    for parameter in (*RESULT_PARAMETERS, *GRADIENT_PARAMETERS)
    for name in (parameter.name, *parameter.aliases)
    if parameter.kind in {OUTPUT, OUTPUT_OF_SEVERAL}
)
"""Keywords of tensors that a call writes its results to."""
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
"""Keywords of ttnn's operations that choose among equivalent kernels of a chip: checked, and without effect."""
HARDWARE_KEYWORDS = tuple(parameter.name for parameter in HARDWARE_PARAMETERS)
QUEUE_KEYWORDS = ("queue_id", "cq_id")
"""Keywords for the command queue of a call; every operation and host function of ttnn takes them."""

_COMMON_PARAMETERS = {
    parameter.name: parameter for parameter in (*RESULT_PARAMETERS, *OPERAND_PARAMETERS, *HARDWARE_PARAMETERS)
}
_OPTION_OF_KIND = {CONFIG: "memory_config", OUTPUT: "output_tensor"}
"""Kind of parameter -> the one option that all its names set."""
PER_RESULT_KINDS = {OUTPUT_OF_SEVERAL, RESULT_MASK}
"""Kinds of parameters for options of each of several results."""
_OPTIONS = {*_OPTION_OF_KIND, *PER_RESULT_KINDS}
"""Kinds of parameters of operations that are options."""


@dataclass(frozen=True)
class Outputs:
    """The options of each result of a call that returns several.

    Attributes:
        targets: Per result the tensor to write and return; None for a new tensor.
        wanted: Whether to return each result; None is returned in place of the others. None: return all.
    """

    targets: tuple[Any, ...]
    wanted: Sequence[bool] | None

    def check(self, name: str, is_tensor: Callable[[Any], bool]) -> None:
        """Check that the targets are tensors.

        Raises:
            ArgumentError: One is no tensor.
        """
        for parameter, target in zip(GRADIENT_PARAMETERS, self.targets, strict=False):
            if target is not None and not is_tensor(target):
                raise ArgumentError(f"{name}: `{parameter.name}` must be a tensor, got {shown(target)}")

    def selected(self, name: str, results: Sequence[Any], write: Callable[[Any, Any], Any]) -> list[Any]:
        """What a call of `name` returns; ``write(target, result)`` writes a result into a target, and returns that.

        Raises:
            ArgumentError: There are fewer results than targets, or `wanted` does not hold a bool for each result.
        """
        wanted = [True] * len(results) if self.wanted is None else self.wanted
        if not isinstance(wanted, list | tuple) or {*map(type, wanted)} - {bool} or len(wanted) < len(results):
            rule = f"must have True or False for each of {len(results)} gradients"
            raise ArgumentError(f"{name}: `are_required_outputs` {rule}, got {shown(wanted)}")
        targets = [*self.targets, *[None] * len(results)]
        if any(target is not None for target in self.targets[len(results) :]):
            raise ArgumentError(f"{name} has one gradient, and `{GRADIENT_PARAMETERS[1].name}` is for a second")
        found = zip(results, wanted, targets, strict=False)
        return [
            None if not is_wanted else each if target is None else write(target, each)
            for each, is_wanted, target in found
        ]


@dataclass(frozen=True)
class ResultOptions:
    """The options of a call for its result; None, or an empty one, leaves the choice to the operation.

    Attributes:
        memory_config: That of the result; None: that of the first tensor.
        dtype: The element type of the result, which is rounded once.
        output_tensor: The tensor to write and return: a tensor of ttnn in eager calls, else one of the program.
        activations: Unary operations that are applied to the result before it is rounded.
        operand_activations: Per operand, from the first on, the unary operations that are applied to it first.
        in_place: The result is written into the declaration's `written_operand`.
        outputs: Options of each of several results; None: there are none.
        queues: The command queues of the call.
        has_grid: The call names cores of a chip; matrix products have another precision then.
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
        """Whether the call fuses other operations with its own."""
        return bool(self.activations) or any(self.operand_activations)

    @property
    def change_nothing(self) -> bool:
        """Whether the result is the same without the options."""
        of_result = (self.memory_config, self.dtype, self.output_tensor)
        return all(each is None for each in of_result) and not self.has_activations

    @property
    def key(self) -> Hashable:
        """The options' part of a cache key; None where they change nothing."""
        return None if self.change_nothing else (self.memory_config, *self.parts.values())

    @property
    def key_without_sizes(self) -> Hashable:
        """The key with the form of `memory_config` (specs/spec_forms.py), and without numbers of activations.

        A template may leave its sizes and these numbers open.
        """
        config = None if self.memory_config is None else config_form(self.memory_config)
        applied = (self.activations, *self.operand_activations)
        forms = tuple(tuple(each.form for each in of_one) for of_one in applied)
        return None if self.change_nothing else (config, self.dtype, forms, self.in_place)

    @property
    def floats(self) -> tuple[float, ...]:
        """The numbers of activations: of the result, then of each operand."""
        applied = itertools.chain(self.activations, *self.operand_activations)
        return tuple(number for each in applied for number in each.numbers)

    def with_floats(self, floats: Iterable[float]) -> ResultOptions:
        """The options with other numbers of activations."""
        if not self.floats:
            return self
        numbers = iter(floats)
        of_result = tuple(each.with_numbers(numbers) for each in self.activations)
        of_operands = tuple(tuple(each.with_numbers(numbers) for each in one) for one in self.operand_activations)
        return replace(self, activations=of_result, operand_activations=of_operands)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of `memory_config`."""
        return () if self.memory_config is None else self.memory_config.shard_shape

    def with_sizes(self, sizes: Sequence[int]) -> ResultOptions:
        """The options with other sizes of `memory_config`."""
        if self.memory_config is None or not sizes:
            return self
        return replace(self, memory_config=with_shard_shape(self.memory_config, sizes))

    @property
    def parts(self) -> dict[str, Hashable]:
        """The named parts of cache keys, in memory and on disk, without `memory_config`."""
        return {
            "dtype": self.dtype,
            "activations": tuple(each.key for each in self.activations),
            "operand activations": tuple(tuple(each.key for each in of_one) for of_one in self.operand_activations),
            "in place": self.in_place,
        }

    def resolved(self, name: str, bound: BoundCall, is_tensor: Callable[[Any], bool]) -> ResultOptions:
        """The checked options of the call `bound` of `name`; an `output_tensor` sets memory config and dtype.

        Raises:
            ArgumentError: An option does not apply to several results or to an operand, or two options disagree.
        """
        operation = bound.operation
        if self.output_tensor is not None and not is_tensor(self.output_tensor):
            raise ArgumentError(f"{name}: `output_tensor` must be a tensor, got {self.output_tensor!r}")
        of_one = {"dtype": self.dtype, "activations": self.activations or None, "output_tensor": self.output_tensor}
        for option in () if operation.gives_one_tensor else of_one:
            if of_one[option] is not None:
                raise ArgumentError(
                    f"`{option}` does not apply to `{operation.name}`, which has several results",
                    help="leave it out, and call `ttnn.typecast` or `ttnn.copy` for each of them",
                )
        takes = isinstance(operation, Elementwise) and operation.arity > 1
        for parameter, index, applied in zip(OPERAND_PARAMETERS, (0, 1), self.operand_activations, strict=False):
            if applied and not (takes and is_tensor(bound.operands[index])):
                raise ArgumentError(
                    f"{name}: `{parameter.name}` applies to a tensor operand of a binary elementwise operation",
                    help="apply the operation yourself, before the call",
                )
        return self if self.output_tensor is None else self.into(name, self.output_tensor)

    def into(self, name: str, output: Any) -> ResultOptions:
        """The options of a call of `name` that writes `output`: memory config and dtype are those of `output`.

        Raises:
            ArgumentError: An option of the call disagrees.
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
        """From the default spec of a result to its memory config; None: the default one.

        A `memory_config` without cores is sharded over the cores of the operand, or those of the device.

        Args:
            operation: The operation of the call.
            first: The spec of its first operand.
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
        """The spec of a result that is `by_rule` without options; arguments as for `placement`.

        Raises:
            GridError, LayoutError: The memory config does not fit the result.
        """
        placement = self.placement(operation, first, grid)
        config = by_rule.memory_config if placement is None else placement(by_rule)
        return checked(by_rule.with_(dtype=self.dtype or by_rule.dtype, memory_config=config))


NO_OPTIONS = ResultOptions()
"""The options of most calls."""


def bind_options(
    name: str, overloads: Iterable[Operation], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any], ResultOptions]:
    """Split the keywords of a call into those of the operation (unknown ones included) and the result options.

    Args:
        name: The function's name in errors.
        overloads: Declarations that share the name.
        kwargs: All keywords of the call.

    Raises:
        ArgumentError: A value has the wrong kind, or two keywords set one option.
    """
    own: dict[str, Any] = {}
    given: dict[str, tuple[str, Any]] = {}
    for keyword, value in kwargs.items():
        option = option_of(overloads, keyword)
        if option is None:
            own[keyword] = value
            if (
                value is not None and keyword in _COMMON_PARAMETERS
            ):  # an operation's own parameter may also take text of the IR
                _COMMON_PARAMETERS[keyword].kind.bind(value, None, f"`{keyword}`")
        elif value is not None:
            field = _OPTION_OF_KIND.get(option.kind, option.name)
            if field in given:
                raise ArgumentError(f"{name}: `{given[field][0]}` and `{keyword}` are two names of one argument")
            given[field] = keyword, option.kind.bind(value, None, f"`{keyword}`")
    return own, _options(name, {field: value for field, (_, value) in given.items()}) if given else NO_OPTIONS


def option_of(overloads: Iterable[Operation], keyword: str) -> Parameter | None:
    """The option that `keyword` of a call sets; None for a parameter of the operation and for unknown keywords."""
    parameters = (each for operation in overloads for each in operation.parameters)
    named = (each for each in parameters if keyword == each.name or (keyword in each.aliases and each.kind in _OPTIONS))
    declared = next(named, None)
    if declared is None:
        return _COMMON_PARAMETERS.get(keyword)
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
