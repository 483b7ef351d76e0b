"""Result options have the same rules in eager calls, in both frontends, and for torch tensors.

Cases are drawn of all functions that take result options, with the arguments that their declarations are tested with
(tests/argument_walk.py), by position and by name. Nothing is compiled: an eager call is asked what it would compile.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.argument_walk import arguments_of_declaration, functions
from tests.host_calls import HOST, Made
from tests.host_calls import made as made_of
from ttnn_jit import ttnn
from ttnn_jit.compiler.templates_on_demand import TemplatesOnDemand
from ttnn_jit.diagnostics.errors import GridError, LayoutError, TtnnJitError
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower, traced_tensors
from ttnn_jit.frontend.tensors.emitter import Emitter
from ttnn_jit.ops import ALIASES
from ttnn_jit.ops.host_ops import creation_of
from ttnn_jit.ops.result_options import GRADIENT_PARAMETERS
from ttnn_jit.runtime.libraries import NUMPY, TORCH, TTNN
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, Layout, MemoryConfig
from ttnn_jit.ttnn.functions.gradients import GRADIENTS

POWER = ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 2.0)
FUSED = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
    compute_with_storage_grid_size=(1, 1), in0_block_w=1, out_subblock_h=1, out_subblock_w=1, per_core_M=2,
    per_core_N=2, transpose_mcast=False, fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
)  # fmt: skip
BAD = 3.5
"""A value of no option's type."""


class Output(NamedTuple):
    """A tensor to write into: like the result without options, except for the given fields."""

    dtype: Any = None
    rows: int | None = None

    def on(self, device: Any, like: Any) -> Any:
        shape = (self.rows, *like.shape[1:]) if self.rows and like.shape else tuple(like.shape)
        return ttnn.from_torch(torch.zeros(shape), dtype=self.dtype or like.dtype, layout=like.layout, device=device)


MEMORY_CONFIGS = (None, ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG, ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, BAD)
OUTPUTS = (None, Output(), Output(ttnn.float32), Output(ttnn.bfloat16), Output(rows=3), BAD)
VALUES = {
    "memory_config": MEMORY_CONFIGS,
    "output_mem_config": MEMORY_CONFIGS,
    "dtype": (None, ttnn.float32, ttnn.bfloat16, ttnn.int32, BAD, "bfloat16"),
    "output_tensor": OUTPUTS,
    "optional_output_tensor": OUTPUTS,
    "activations": (None, [], ["relu"], ["neg", POWER], [ttnn.sigmoid], "relu", ["gleu"], [BAD]),
    "input_tensor_a_activations": (None, [], ["relu"], ["neg", "exp"], "relu"),
    "input_tensor_b_activations": (None, ["relu"], [POWER], BAD),
    "program_config": (None, FUSED, BAD),
    "compute_kernel_config": (None, BAD),
    "core_grid": (None, ttnn.CoreGrid(y=1, x=1)),
    "sub_core_grids": (None, BAD),
    "queue_id": (None, 0),
    "no_option": (None, BAD),
}
OWN_NAMES = {"out": OUTPUTS, "override_memory_config": MEMORY_CONFIGS, "fast_and_approximate_mode": (True, BAD)}
"""Names of parameters that are options in some declarations, or ignored in others."""


class Case(NamedTuple):
    """A call of a function.

    Attributes:
        name: The function's.
        own: Its own arguments by parameter, those first that are given by position.
        positional: How many these are.
        options: What it asks besides.
    """

    name: str
    own: dict[str, Any]
    positional: int
    options: dict[str, Any]


@cache
def declared_calls() -> tuple[tuple[str, Any, dict[str, Any]], ...]:
    return tuple(
        (name, operation, own)
        for name, function in functions().items()
        if name not in ALIASES  # not available in programs
        for operation in function.__ttnn_overloads__
        for own in arguments_of_declaration(operation)
    )


def known_options(name: str, operation: Any, own: Any) -> dict[str, tuple[Any, ...]]:
    """The options of a call beside its `own` arguments: gradients have their own names for output tensors."""
    named = {each.name: OWN_NAMES[each.name] for each in operation.parameters if each.name in OWN_NAMES}
    of_several = (name for each in GRADIENT_PARAMETERS for name in (each.name, *each.aliases))
    without = {*own, *((*of_several, "optional_output_tensor") if name in GRADIENTS else ())}
    return {each: values for each, values in {**VALUES, **named}.items() if each not in without}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    name, operation, given_by_name = draw(st.sampled_from(declared_calls()))
    order = operation.parameter_names
    least = next((index for index, each in enumerate(order) if each not in given_by_name), len(order))
    own = {each: given_by_name[each] for each in (*order[:least], *given_by_name)}
    known = known_options(name, operation, own)
    chosen = draw(st.lists(st.sampled_from([*known]), max_size=3, unique=True))
    options = {each: draw(st.sampled_from(known[each])) for each in chosen}
    return Case(name, own, draw(st.integers(0, least)), options)


def call_of(case: Case, options: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    """The call, as a function of its tensors by name."""
    function, names = functions()[case.name], [*case.own]
    plain = {name: None if isinstance(value, ttnn.Tensor) else value for name, value in options.items()}

    def call(tensors: Any) -> Any:
        own = {**case.own, **tensors}
        args = [own[name] for name in names[: case.positional]]
        kwargs = {name: own[name] for name in names[case.positional :]}
        chosen = {name: tensors.get(name, value) for name, value in plain.items()}
        return function(*args, **kwargs, **chosen)

    return call


CONFIG_REFUSED = "its memory config is refused"
CONFIG_NAMES = {"memory_config", "output_mem_config", "override_memory_config"}


def refusal(error: TtnnJitError) -> str:
    """The reason for a refusal, whatever the name of the called function, and the words for its tensors."""
    if isinstance(error, (GridError, LayoutError)):
        return CONFIG_REFUSED
    text = re.sub(r"^(`|ttnn\.)[\w.]+`?:? ", "", error.message).replace("a ttnn.Tensor", "a tensor")
    return re.sub(r"TensorSpec\((\[.*?\]).*?\)", r"\1", text).replace("a result of shape", "a result of")


class Compiled(Exception):  # noqa: N818 - it is none
    """The compile request of an eager call."""


def eagerly(call: Callable[[dict[str, Any]], Any], tensors: dict[str, Any]) -> Any:
    """The specs of the results of a call, or why it is refused."""

    def compiled(_: TemplatesOnDemand, __: Any, request: Any, *___: Any, **____: Any) -> Any:
        raise Compiled(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TemplatesOnDemand, "compilation", compiled)
        try:
            return run(call, tensors)
        except Compiled as compiled:
            (request,) = compiled.args
    try:
        return results_in(request.lower().module)
    except TtnnJitError as error:
        return refusal(error)


def run(call: Callable[[dict[str, Any]], Any], tensors: dict[str, Any]) -> Any:
    """The same, of a call that may be several operations."""
    try:
        return specs_of(call(tensors))
    except TtnnJitError as error:
        return refusal(error)


def in_a_program(
    call: Callable[[dict[str, Any]], Any], tensors: dict[str, Any], target: Any, library: Any, *, traced: bool
) -> Any:
    """The specs of the results of the outermost call in a program, or the reason for its refusal."""
    seen: list[Any] = []

    def recording(function: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*args: Any) -> Any:
            found = function(*args)
            seen[:] = specs_of(found)
            return found

        return recorded

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Emitter, "call", recording(Emitter.call))
        patch.setattr(traced_tensors, "create", recording(traced_tensors.create))
        try:
            lower(FrontendRequest(call, {"tensors": described(tensors, library)}, target, traced, library=library))
        except TtnnJitError as error:
            return refusal(error)
    return seen


def described(tensors: dict[str, Any], library: Any) -> dict[str, Any]:
    """The tensors among the arguments of a frontend."""

    def of_one(tensor: Any) -> TensorArgument:
        spec = tensor.spec
        return TensorArgument(
            spec if library is TTNN else spec.with_(layout=Layout.ROW_MAJOR, memory_config=HOST_MEMORY_CONFIG)
        )

    return map_leaves(tensors, of_one)


def specs_of(found: Any) -> list[Any]:
    return [each.spec for each in leaves([found]) if hasattr(each, "spec")]


def results_in(module: Any) -> list[Any]:
    *_, returned = next(iter(module.body.ops)).body.ops
    return [spec_of(value.type) for value in returned.operands]


def made(own: Mapping[str, Any], device: Any) -> dict[str, Any]:
    """The tensors among arguments, by parameter."""
    return {
        name: [each.on(device) for each in value] if type(value) is list else value.on(device)
        for name, value in own.items()
        if isinstance(value, Made) or (type(value) is list and value and isinstance(value[0], Made))
    }


def with_outputs(case: Case, tensors: dict[str, Any], device: Any) -> dict[str, Any]:
    """The options of the call, with tensors in the place of `Output`."""
    if not any(isinstance(value, Output) for value in case.options.values()):
        return case.options
    found = eagerly(call_of(case, {}), tensors)
    like = found[0] if isinstance(found, list) else leaves([*tensors.values()])[0].spec
    return {
        name: value.on(device, like) if isinstance(value, Output) else value for name, value in case.options.items()
    }


def difference(case: Case, device: Any) -> tuple[str, Any, Any] | None:
    """The kind of call whose outcome differs from the eager call's, and both outcomes."""
    own = made(case.own, device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = with_outputs(case, own, device)
        without_config = {name: None if isinstance(each, MemoryConfig) else each for name, each in options.items()}
        tensors = {**own, **{name: each for name, each in options.items() if isinstance(each, ttnn.Tensor)}}
        call = call_of(case, options)
        want = eagerly(call, tensors)
        if want == CONFIG_REFUSED:  # kernels of programs ignore the memory config, and refuse none
            want = eagerly(call_of(case, without_config), tensors)
        ways = [(way, TTNN, traced, want) for way, traced in (("AST", False), ("capture", True))]
        if len(CONFIG_NAMES & {*options}) < 2:  # otherwise two names of options that other tensors do not have
            want = shapes_and_dtypes(eagerly(call_of(case, without_config), tensors))
            have = dtypes_of([*tensors.values()])
            ways += [(library.title, library, False, want) for library, dtypes in HAVE.items() if have <= dtypes]
        for way, library, traced, want in ways:
            got = in_a_program(call, tensors, device.target, library, traced=traced)
            got = got if library is TTNN else shapes_and_dtypes(got)
            if got == want or are_refused(got, want, eagerly(call_of(case, {}), own)):
                continue
            if not (are_refused(got, want) and got in refusals_of_fewer(case, without_config, tensors)):
                return way, got, want
    return None


def refusals_of_fewer(case: Case, options: dict[str, Any], tensors: dict[str, Any]) -> list[Any]:
    """The outcomes of eager calls with one option less: of two errors in a call, either may be reported first."""
    fewer = ({name: value for name, value in options.items() if name != left} for left in options)
    return [eagerly(call_of(case, each), tensors) for each in fewer]


def are_refused(*found: Any) -> bool:
    """Whether every call is refused, with options or without, so that the first reported reason matters little."""
    return all(isinstance(each, str) for each in found)


HAVE = {TORCH: {ttnn.float32, ttnn.bfloat16}, NUMPY: {ttnn.float32}}
"""The element types of a library, with which it computes as ttnn does."""


def dtypes_of(values: list[Any]) -> set[Any]:
    return {each.dtype for each in leaves(values) if isinstance(each, ttnn.Tensor)}


def shapes_and_dtypes(found: Any) -> Any:
    return found if isinstance(found, str) else [(each.shape, each.dtype) for each in found]


@cache
def device_of(target: str) -> Any:
    return ttnn.open_device(device_id=0, target=target)


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@settings(max_examples=400, deadline=None)
@given(case=cases())
def test_eager_calls_and_both_frontends_apply_the_same_checks(target, case):
    assert difference(case, device_of(target)) is None


OF_HOST = {
    "MemoryConfig": (ttnn.L1_MEMORY_CONFIG, BAD),
    "MemoryConfig | None": (ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG, BAD),
    "DataType": (ttnn.float32, BAD),
    "DataType | None": (ttnn.float32, ttnn.bfloat16, BAD),
    "Layout | None": (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT, BAD),
}
"""Annotation of a parameter of a host function -> its test values."""
WRITTEN = ("output", "output_tensor")
"""Names of parameters for output tensors; inside programs `to_memory_config` writes nothing."""


def host_calls(name: str, device: Any) -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """Calls of a host function with options, each with its tensors."""
    function = getattr(ttnn, name)
    tensors = made(HOST[name], device)
    base = {each: made_of(value, device) for each, value in HOST[name].items() if each not in tensors}

    def call_with(**chosen: Any) -> Callable[[dict[str, Any]], Any]:
        def call(tensors: Any) -> Any:
            return function(**{**base, **chosen, **tensors})

        return call

    for parameter in inspect.signature(function).parameters.values():
        for value in OF_HOST.get(str(parameter.annotation), ()):
            yield call_with(**{parameter.name: value}), tensors
        if parameter.name in WRITTEN and name not in {"format_output_tensor", "to_memory_config", "reshard"}:
            (spec, *_) = run(call_with(), tensors)
            yield call_with(), {**tensors, parameter.name: Output().on(device, spec)}


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize("name", [name for name in HOST if creation_of(getattr(ttnn, name)) is not None])
def test_host_functions_apply_the_same_checks_in_programs(name, target):
    device = device_of(target)
    for call, tensors in host_calls(name, device):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = run(call, tensors)
            got = [in_a_program(call, tensors, device.target, TTNN, traced=each) for each in (False, True)]
        assert got == [want, want]
