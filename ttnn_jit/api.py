"""Public functions: the decorator `jit`, the table of operations, and the explanation of a disk cache miss."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeVar, cast, overload

from ttnn_jit.calls.fallback import FallbackJitFunction
from ttnn_jit.calls.jit_function import JitFunction
from ttnn_jit.calls.settings import Settings
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.ops import OPERATIONS
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.mutable_values import frozen
from ttnn_jit.specs.options import BACKENDS, CompileOptions, Environment, config_overrides
from ttnn_jit.specs.target import SystemDesc, resolve_target
from ttnn_jit.specs.tensor_spec import MathFidelity, MemoryConfig

_KEYWORD = inspect.Parameter.KEYWORD_ONLY
F = TypeVar("F", bound=Callable[..., Any])


def _checking_option_names(function: F) -> F:
    """`function`, with an error for unknown keywords that suggests the likely one."""
    options = [each.name for each in inspect.signature(function).parameters.values() if each.kind is _KEYWORD]

    @functools.wraps(function)
    def checked(*args: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in options:
                raise _unknown_option(function.__name__, name, options)
        return function(*args, **keywords)

    return cast(F, checked)


@overload
def jit(fn: Callable[..., Any], /) -> JitFunction: ...


@overload
def jit(
    fn: None = None,
    /,
    *,
    enable_cache: bool = ...,
    graph_capture: bool | None = ...,
    math_fidelity: MathFidelity = ...,
    debug: bool = ...,
    compile_only: bool = ...,
    backend: str = ...,
    max_grid: tuple[int, int] | None = ...,
    memory_config: MemoryConfig | None = ...,
    fallback: bool = ...,
    extra_pipeline_options: str = ...,
    target: SystemDesc | str | None = ...,
    fp32_dest_acc: bool = ...,
    dynamic: bool | None = ...,
) -> Callable[[Callable[..., Any]], JitFunction]: ...


@_checking_option_names
def jit(  # noqa: PLR0913 - the flags of the ttnn.jit document, all keyword only
    fn: Callable[..., Any] | None = None,
    /,
    *,
    enable_cache: bool = True,
    graph_capture: bool | None = None,
    math_fidelity: MathFidelity = MathFidelity.HiFi4,
    debug: bool = False,
    compile_only: bool = False,
    backend: str = "ttnn",
    max_grid: tuple[int, int] | None = None,
    memory_config: MemoryConfig | None = None,
    fallback: bool = False,
    extra_pipeline_options: str = "",
    target: SystemDesc | str | None = None,
    fp32_dest_acc: bool = False,
    dynamic: bool | None = None,
) -> JitFunction | Callable[[Callable[..., Any]], JitFunction]:
    """Compile a function of TTNN operations at its first call, and run native code from then on.

    Args:
        fn: The function, when written bare as ``@jit``.
        enable_cache: Keep compiled programs on disk. In memory a function always keeps its programs. The ttnn.jit
            document defaults this to False; here it is True, so that a second process compiles nothing, nor does a
            function that is defined anew, such as a closure.
        graph_capture: True traces the function, False interprets its source, None interprets it and traces only
            where there is no source to read. A trace executes the Python around the operations. A program that read
            ``random.random()``, ``time.time()`` or a file is used for one call, and a warning says so. The interpreter
            refuses such calls.
        math_fidelity: How exactly a chip multiplies matrices (docs/numerics.md); printed on kernels, part of the key.
        debug: Print to stdout the IR after every stage, each under a banner, and at each call one line per kernel
            launch. Verify the module after every pass.
        compile_only: Return the compiled `Program` instead of running it, and write IR, kernels, assembly and object
            code under ``generated/jit/<function>_<hash>/``.
        backend: ``"ttnn"`` emits vectorized LLVM IR with math functions of its own. ``"numba"`` emits the same
            scheduled program as Python loops over libm, which numba compiles: slower, readable, and independent
            (docs/backends.md).
        max_grid: Last core coordinate (x, y): (7, 7) is a grid of 8x8; None means the target's whole grid.
        memory_config: The memory config of results where arguments are ttnn tensors. None means that of the first
            operand, or what ``TTNN_JIT_OUTPUT_LAYOUT=max-block-sharded`` selects.
        fallback: Run the plain Python function, with a warning, where compiling or running it fails. The operations of
            ttnn then accept torch tensors and numpy arrays, and run eagerly; functions of torch and numpy run as usual.
        extra_pipeline_options: Additional passes between named stages, ``after-STAGE{PASS,...}``.
        target: The system whose rules apply to torch and numpy arguments; for ttnn tensors those of their device do.
        fp32_dest_acc: On chip targets, keep float32 between the operations of a fused kernel and round only at its
            stores: more exact, but no longer bit-equal to eager calls (docs/numerics.md). DST then holds 4 tiles.
            The ``cpu`` target always computes this way.
        dynamic: Whether one program serves many sizes of tensors (docs/dynamic_shapes.md). True compiles such a program
            at the first call, None at the second size of an extent or at the first call with a tensor of
            `mark_dynamic`, False never.

    Returns:
        A `JitFunction`, or a decorator that returns one.

    Raises:
        ArgumentError: An unknown option, an option of the wrong type, an unknown backend or target, a `max_grid` that
            is not a core coordinate, or `fallback` and `compile_only` together.
    """
    options = CompileOptions(
        graph_capture=graph_capture,
        math_fidelity=math_fidelity,
        max_grid=_checked_max_grid(max_grid),
        backend=backend,
        memory_config=frozen(memory_config),
        output_layout=Environment.read().output_layout,
        fp32_dest_acc=fp32_dest_acc,
        extra_pipeline_options=extra_pipeline_options,
    )
    settings = Settings(
        options,
        target=None if target is None else resolve_target(target).chip,
        enable_cache=enable_cache,
        debug=debug,
        compile_only=compile_only,
        dynamic=dynamic,
    )
    _check_options(settings, fallback)

    def decorate(function: Callable[..., Any]) -> JitFunction:
        return (FallbackJitFunction if fallback else JitFunction)(function, settings)

    return decorate if fn is None else decorate(fn)


def _unknown_option(function: str, name: str, options: Sequence[str]) -> ArgumentError:
    import difflib

    meant = [option for option in options if name in option or option in name]
    meant = meant or difflib.get_close_matches(name, options, 1, 0.8)
    guess = f"did you mean {' or '.join(f'`{option}`' for option in meant)}?"
    return ArgumentError(
        f"{function} has no option `{name}`", help=guess if meant else f"its options are {', '.join(options)}"
    )


_FIDELITIES = ", ".join(f"ttnn.MathFidelity.{member.name}" for member in MathFidelity)


def _check_options(settings: Settings, fallback: object) -> None:
    options = settings.options
    for name in ("enable_cache", "debug", "compile_only"):
        _check_option(name, getattr(settings, name), bool, "True or False")
    _check_option("fallback", fallback, bool, "True or False")
    _check_option("dynamic", settings.dynamic, (bool, types.NoneType), "True, False or None")
    _check_option("fp32_dest_acc", options.fp32_dest_acc, bool, "True or False")
    _check_option("graph_capture", options.graph_capture, (bool, types.NoneType), "True, False or None")
    _check_option("extra_pipeline_options", options.extra_pipeline_options, str, "a text, `after-STAGE{PASS,...}`")
    _check_option("math_fidelity", options.math_fidelity, MathFidelity, _FIDELITIES)
    if options.backend not in BACKENDS:
        known = " and ".join(map(repr, BACKENDS))
        raise ArgumentError(f"unknown backend {options.backend!r}; the backends are {known}")
    if fallback and settings.compile_only:
        raise ArgumentError("fallback=True is incompatible with compile_only=True")
    if options.memory_config is not None:
        check_kind(options.memory_config, MemoryConfig, "`memory_config`")


def _check_option(name: str, value: object, kind: type | tuple[type, ...], takes: str) -> None:
    if not isinstance(value, kind):
        raise ArgumentError(f"{name} is {value!r}", help=f"it takes {takes}")


def _checked_max_grid(max_grid: tuple[int, int] | None) -> tuple[int, int] | None:
    if max_grid is None:
        return None
    corner = tuple(max_grid) if isinstance(max_grid, (tuple, list)) else ()
    if len(corner) != 2 or not all(type(extent) is int and extent >= 0 for extent in corner):
        raise ArgumentError(
            f"max_grid is {max_grid!r}", help="it is the last core (x, y): (7, 7) is a grid of 8x8 cores"
        )
    return corner[0], corner[1]


def supported_ops() -> list[dict[str, object]]:
    """One row per operation: its call, its dtypes, its name in torch's ATen or None, and a summary.

    The dtypes are those that at least one operand accepts, operands of indices included. A call with another dtype
    raises an error that names the operand.
    """
    return [
        {
            "name": operation.name,
            "call": f"ttnn.{operation.signature}",
            "dtypes": sorted(dtype.name for dtype in operation.dtypes),
            "aten": operation.aten,
            "summary": operation.summary,
        }
        for operation in OPERATIONS
    ]


def register_as_ttnn() -> None:
    """Let ``import ttnn`` find `ttnn_jit.ttnn`, in this process and its child processes, unless a real ttnn is found.

    A second call does nothing. Child processes are configured through multiprocessing, and through an entry appended
    to the environment variable PYTHONPATH of this process.
    """
    from ttnn_jit.ttnn.namespace import stand_in

    stand_in.register_as_ttnn()


def mark_dynamic(tensor: Any, dim: int | Sequence[int]) -> None:
    """Say that an extent of a tensor will vary, so that the first call compiles a program for many sizes.

    Without it, that is done at the second size of an extent (docs/dynamic_shapes.md), which costs one more compile. The
    mark belongs to this tensor object and lasts as long as it does. The strides and the shard of the tensor may vary
    with the extent. It has no effect on extents of 0 and 1, and on functions with ``@jit(dynamic=False)``. As
    `torch._dynamo.mark_dynamic`::

        ttnn_jit.mark_dynamic(x, 0)
        compiled(x)

    Args:
        tensor: A tensor of ttnn, torch or numpy.
        dim: The dimension, or several; negative ones count from the last.

    Raises:
        ArgumentError: `tensor` is no tensor, or `dim` no whole number.
        ShapeError: The tensor has no such dimension.
    """
    from ttnn_jit.runtime.libraries import tensor_library_of
    from ttnn_jit.runtime.tensors.dynamic_marks import mark_axes

    if tensor_library_of(tensor) is None:
        raise ArgumentError(f"mark_dynamic takes a tensor of ttnn, torch or numpy, got {type_name(tensor)}")
    dims, rank = dim if isinstance(dim, (tuple, list)) else (dim,), len(tensor.shape)
    for each in dims:
        if type(each) is not int:
            raise ArgumentError(f"`dim` is {each!r}", help="it is the number of a dimension, or a list of such numbers")
        if not -rank <= each < rank:
            raise ShapeError(f"a tensor of shape {list(tensor.shape)} has no dimension {each}")
    mark_axes(tensor, (each % rank for each in dims))


def explain_miss(function: JitFunction, *args: Any, **kwargs: Any) -> str:
    """Why a call with these arguments is compiled, one reason per line.

    Calls that differ in sizes alone share programs for many sizes (docs/dynamic_shapes.md). If `function` has such
    programs in memory and none serves these sizes, the first lines say, per program, which of its conditions fail, and
    which uses in the user's code fixed a size in it::

        template 1 of 2 needs x.shape[0] // 32 == 1: x.shape[0] // 32 is 2
            specialised on 2: `range(x.shape[0] // 32 + 1)` at model.py:12

    The other lines say why the call misses the disk cache: the key's fields that differ from the nearest stored key.

    Raises:
        ArgumentError: `function` was not returned by `jit`.
    """
    from ttnn_jit.compiler import inspection

    if not isinstance(function, JitFunction):
        raise ArgumentError(f"explain_miss takes what `jit` returns, got {type_name(function)}")

    of_templates = function.template_misses(*args, **kwargs)
    if of_templates is None:
        return "nothing differs but sizes: a template in memory serves this call"
    request = function.request(*args, **kwargs)
    of_disk = inspection.explain_miss(request) if function.keeps_on_disk else "enable_cache=False: nothing is on disk"
    return "\n".join([*of_templates, of_disk])


if config_overrides():  # settings may turn on observers, which must see the first call
    import_module("ttnn_jit.ttnn.observing.session_config")
