"""Runs the stages of `stage_order.py` and the user's own passes.

A user's pass is a frozen dataclass with a `name`, a subclass of `xdsl.passes.ModulePass`; its fields are its options.
`register_pass` registers it under that name, with the stage that it follows by default. It runs in compiles whose
`CompileOptions.extra_pipeline_options` name it; these options are part of the cache key::

    register_pass(CountTiles, after="d2m-generic-fusion")
    extra_pipeline_options="count-tiles{verbose=true}"                       after its default stage
    extra_pipeline_options="after-cse{count-tiles},after-frontend{my-pass}"  after the stages named here
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from enum import Enum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from ttnn_jit.diagnostics.errors import ArgumentError, InternalError, PassError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import context, print_module, verify
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.events.listeners import LISTENERS, measured
from ttnn_jit.events.run_events import CompileStage
from ttnn_jit.process.memoized import memoized
from ttnn_jit.process.progress import SHOW_AFTER, with_progress
from ttnn_jit.specs.options import USER_PASSES, CompileOptions
from ttnn_jit.transforms import stage_order
from ttnn_jit.transforms.kernels.equal_kernels import RecallKernels, ShareEqualKernels
from ttnn_jit.transforms.passes.convert_d2m_to_ttkernel import ConvertD2MToTTKernel
from ttnn_jit.transforms.passes.convert_d2m_to_ttmetal import ConvertD2MToTTMetal
from ttnn_jit.transforms.passes.convert_stablehlo_to_ttir import ConvertStablehloToTTIR, StablehloToTTIRPipeline
from ttnn_jit.transforms.passes.convert_tosa_to_ttir import ConvertTosaToTTIR
from ttnn_jit.transforms.passes.d2m_generic_fusion import D2MGenericFusion
from ttnn_jit.transforms.passes.d2m_insert_dst_register_access import D2MInsertDstRegisterAccess
from ttnn_jit.transforms.passes.inline import Inline
from ttnn_jit.transforms.passes.stablehlo_pipeline import StablehloPipeline
from ttnn_jit.transforms.passes.ttcore_register_device import TTCoreRegisterDevice

PassObserver = Callable[[str, ModuleOp], None]
"""Called after each pass with its name and the module, which it must not change."""

FRONTEND, STAGES = stage_order.FRONTEND, stage_order.STAGE_ORDER
"""Names of the stages after `FRONTEND`, in order."""


def _class_of(stage: str) -> type[ModulePass]:
    """The pass of a stage: the one in the file of its name."""
    module = import_module(f"ttnn_jit.transforms.passes.{stage.replace('-', '_')}")
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, ModulePass) and getattr(value, "name", None) == stage:
            return value
    raise InternalError(f"{module.__file__} has no pass whose name is {stage!r}")


_CLASSES = tuple(_class_of(stage) for stage in STAGES)


@memoized(maxsize=64)
def stage_passes(options: CompileOptions) -> tuple[ModulePass, ...]:
    """The passes of a compile in order, without the user's own.

    A field of a pass takes the value of the option of the same name, if there is one; of an enum, the member's name.
    """
    return tuple(cls(**_options_of(cls, options)) for cls in _CLASSES)


def _options_of(cls: type[ModulePass], options: CompileOptions) -> dict[str, Any]:
    values = {field.name: getattr(options, field.name) for field in fields(cls) if hasattr(options, field.name)}
    return {name: value.name if isinstance(value, Enum) else value for name, value in values.items()}


_DEFAULT_PASSES = stage_passes(CompileOptions())

SCHEDULED = D2MInsertDstRegisterAccess.name
"""The stage whose module codegen reads."""

CHIP_PASSES: tuple[ModulePass, ...] = (ConvertD2MToTTKernel(), ConvertD2MToTTMetal())
"""The passes from the scheduled module to the kernels of a chip's cores, which no compile runs."""

_OWN_PASSES: dict[str, type[ModulePass]] = {
    own.name: type(own)
    for own in (
        TTCoreRegisterDevice(),
        Inline(),
        ConvertStablehloToTTIR(),
        StablehloPipeline(),
        StablehloToTTIRPipeline(),
        ConvertTosaToTTIR(),
        ConvertD2MToTTKernel(),
        ConvertD2MToTTMetal(),
        *_DEFAULT_PASSES,
    )
}


def run(
    module: ModuleOp,
    options: CompileOptions,
    *,
    until: str | None = None,
    start_after: str | None = None,
    observer: PassObserver | None = None,
    verify_each: bool = False,
    reproducers: Path | None = None,
) -> None:
    """Lowers `module` in place.

    Args:
        module: The result of the frontend, or of the stage `start_after`.
        options: Options of the passes, and the user's own passes.
        until: The last stage to run; None runs all.
        start_after: The last stage that has run already; None means the frontend.
        observer: Called after every pass.
        verify_each: Whether the module is verified after every pass.
        reproducers: Folder for the text before a failing pass; None writes nothing.

    Raises:
        PassError: A pass failed, or left an invalid module.
        ArgumentError: A stage or pass is unknown.
    """
    passes = passes_between(options, until=until, start_after=start_after)
    run_passes(module, passes, observer=observer, verify_each=verify_each, reproducers=reproducers)


def passes_between(
    options: CompileOptions, *, until: str | None = None, start_after: str | None = None
) -> tuple[ModulePass, ...]:
    """The passes after the stage `start_after` up to the stage `until`, the user's own included."""
    names = (FRONTEND, *STAGES)
    first = names.index(_known(start_after or FRONTEND, names, "stage"))
    last = names.index(_known(until or STAGES[-1], names, "stage"))
    extra = extra_passes(options.extra_pipeline_options)
    chosen: list[ModulePass] = []
    for number, stage in enumerate((None, *stage_passes(options))):
        if stage is not None and first < number <= last:
            chosen.append(stage)
        if first <= number <= last:
            chosen.extend(extra.get(names[number], ()))
    return tuple(chosen)


def passes_around_codegen(
    options: CompileOptions, *, shared: bool = False
) -> tuple[tuple[ModulePass, ...], tuple[ModulePass, ...]]:
    """The passes up to the module that codegen reads, and those after it, the user's own included.

    Args:
        options: Options of the compile.
        shared: Whether equal kernels are lowered once, and known ones not at all; only for compiles that show no stage
            after fusion.
    """
    if options.extra_pipeline_options:
        return _passes_around_codegen(options, shared)
    return _own_passes_around_codegen(options, shared)


def _passes_around_codegen(
    options: CompileOptions, shared: bool
) -> tuple[tuple[ModulePass, ...], tuple[ModulePass, ...]]:
    every, to_schedule = passes_between(options), passes_between(options, until=SCHEDULED)
    behind = every[len(to_schedule) :]
    if shared:
        fused = passes_between(options, until=D2MGenericFusion.name)
        lowering = to_schedule[len(fused) :]
        to_schedule = (*fused, ShareEqualKernels(), RecallKernels(lowering), *lowering)
    return to_schedule, behind


_own_passes_around_codegen = memoized(maxsize=64)(_passes_around_codegen)
"""These passes are frozen, so that compiles share them; a user's pass is made anew for each."""


def run_passes(
    module: ModuleOp,
    passes: Iterable[ModulePass],
    *,
    observer: PassObserver | None = None,
    verify_each: bool = False,
    reproducers: Path | None = None,
    verifier: Callable[[ModuleOp], None] = verify,
) -> None:
    """Runs `passes` over `module` in place; see `run`. After each pass `verifier` accepts the module or raises."""
    chosen = tuple(passes)
    original = module.clone() if reproducers is not None else None  # a print before every pass takes most of a compile
    for number, stage in enumerate(with_progress(chosen, len(chosen), "compiling, passes", after=SHOW_AFTER)):
        try:
            _apply(stage, module)
            if verify_each:
                verifier(module)
        except Exception as error:
            failure = _pass_error(stage, module, error)
            if reproducers is not None and original is not None:
                _write_reproducer(reproducers, original, chosen[: number + 1], failure)
            raise failure from error
        if observer is not None:
            observer(stage.name, module)


def _apply(stage: ModulePass, module: ModuleOp) -> None:
    apply = partial(stage.apply, context(), module)
    measured(CompileStage, apply, name=stage.name, program=program_name(module)) if LISTENERS else apply()


def program_name(module: ModuleOp) -> str:
    """The name of the first function of a module; empty if it has none."""
    return next((op.sym_name.data for op in module.ops if isinstance(op, FuncOp)), "")


def register_pass(cls: type[ModulePass], *, after: str) -> type[ModulePass]:
    """Registers a user's pass under its name.

    Args:
        cls: The pass. Registering another class of the same name replaces it, and invalidates the programs that were
            compiled with the first.
        after: The stage that it follows if `extra_pipeline_options` names no stage.

    Raises:
        ArgumentError: There is no such stage, or the name is a stage's.
    """
    if cls.name in _OWN_PASSES or cls.name == FRONTEND:
        raise ArgumentError(f"`{cls.name}` is a stage of the pipeline", help="give the pass another name")
    USER_PASSES[cls.name] = cls, _known(after, (FRONTEND, *STAGES), "stage")
    return cls


TTMETAL_PIPELINE = "ttir-to-ttmetal-pipeline"
"""The name of the ttnn.jit document for the pipeline of all stages after `convert-ttnn-to-ttir`."""


def parse_passes(text: str) -> tuple[ModulePass, ...]:
    """The passes that a pipeline text names: ``cse,d2m-generic-fusion{fuse=false}``.

    ``ttir-to-ttmetal-pipeline{system-desc-path=FILE ttnn-mode=true}`` names all stages after
    `convert-ttnn-to-ttir`, with the target in the file or else that of the module.

    Raises:
        ArgumentError: The text is no pipeline, or a pass or option is unknown.
    """
    quoted = re.sub(r"(system[-_]desc[-_]path=)([^\s\"}]*)(?=[\s}])", r'\1"\2"', text.strip())
    try:
        specs = parse_pipeline(quoted)
        return tuple(own for spec in specs for own in (_ttmetal(spec) or (_pass_of(spec),)))
    except ArgSpecParseError as error:
        raise ArgumentError(
            f"this is no pipeline: {text!r}",
            help="write passes as `name{option=value},name`, and values with other characters than letters, digits, "
            '`_` and `-` in double quotes: `name{option="a.b"}`',
        ) from error


def without_anchors(text: str) -> str:
    """A pipeline in mlir-opt's form, ``builtin.module(a,func.func(b{option=value}))``, without its anchors.

    A pass of this compiler runs on the module, whatever it is anchored to.
    """
    stripped = text.strip()
    while match := _ANCHOR.search(stripped):
        stripped = stripped[: match.start()] + match[1] + stripped[match.end() :]
    return stripped


_ANCHOR = re.compile(r"(?:builtin\.module|ttcore\.device_module|func\.func|any)\(([^()]*)\)")


def pass_names() -> tuple[str, ...]:
    """The names of all passes over modules of this compiler, the user's too."""
    return (*_OWN_PASSES, *USER_PASSES)


def is_over_texts(name: str) -> bool:
    """Whether a pass takes texts of tt-mlir, and no module of this compiler: its class says `over_texts`."""
    return bool(getattr(_OWN_PASSES.get(name), "over_texts", False))


def known_name(name: str, others: Iterable[str] = ()) -> str:
    """A name, which is that of a pass or one of `others`.

    Raises:
        ArgumentError: It is not.
    """
    return _known(name, (*pass_names(), *others), "pass")


def _ttmetal(spec: ArgSpec) -> tuple[ModulePass, ...]:
    if spec.name != TTMETAL_PIPELINE:
        return ()
    options = dict(spec.normalize_parameter_names().parameters)
    paths = options.pop("system_desc_path", ("",))
    if options != {"ttnn_mode": (True,)} or len(paths) != 1:
        raise ArgumentError(
            f"`{TTMETAL_PIPELINE}` takes ttnn-mode=true and system-desc-path=FILE, got `{spec}`",
            help="without a file, or with an empty name, the target is the module's ttcore.system_desc",
        )
    registered = (TTCoreRegisterDevice(str(paths[0])),) if paths[0] else ()
    return (*registered, *_DEFAULT_PASSES[1:])


def extra_passes(text: str) -> dict[str, tuple[ModulePass, ...]]:
    """Stage -> the user's passes that follow it, from the text of `extra_pipeline_options`."""
    passes_after: dict[str, tuple[ModulePass, ...]] = {}
    for item in _split_outside_braces(text):
        if match := re.fullmatch(r"after-([\w-]+)\{(.*)\}", item, re.DOTALL):
            stage = _known(match[1], (FRONTEND, *STAGES), "stage")
            passes_after[stage] = passes_after.get(stage, ()) + parse_passes(match[2])
            continue
        for own in parse_passes(item):
            _, stage = USER_PASSES.get(own.name, (type(own), own.name))
            if stage not in (FRONTEND, *STAGES):
                raise ArgumentError(f"`{own.name}` follows no stage of its own", help=f"write `after-STAGE{{{item}}}`")
            passes_after[stage] = (*passes_after.get(stage, ()), own)
    return passes_after


def _split_outside_braces(text: str) -> list[str]:
    """`text` split at the commas outside braces."""
    parts = [""]
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _pass_of(spec: ArgSpec) -> ModulePass:
    known = _OWN_PASSES | {name: cls for name, (cls, _) in USER_PASSES.items()}
    cls = known[_known(spec.name, tuple(known), "pass")]
    try:
        return cls.from_pass_spec(spec)
    except (ArgSpecParseError, ValueError) as error:
        raise ArgumentError(f"`{spec}`: {error}") from error


def _known(name: str, names: Sequence[str], kind: str) -> str:
    if name not in names:
        near = difflib.get_close_matches(name, [*dict.fromkeys(names)], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`ttnn-jit opt --list` names them"
        raise ArgumentError(f"unknown {kind} `{name}`", help=hint)
    return name


def _pass_error(stage: ModulePass, module: ModuleOp, error: Exception) -> PassError:
    ours = error if isinstance(error, TtnnJitError) else TtnnJitError(f"{type(error).__name__}: {error}")
    return PassError(
        f"Failed to run pass manager: `{stage.name}`: {ours.message}",
        location=ours.location or _first_location(module),
        help=ours.help,
    )


def _first_location(module: ModuleOp) -> Location | None:
    """The location of the first op inside the module; that of the module says nothing about the failure."""
    inside = (op for op in module.walk() if op is not module)
    return next((found for op in inside if (found := location_of(op)) is not None), None)


def _write_reproducer(folder: Path, original: ModuleOp, passes: Sequence[ModulePass], failure: PassError) -> None:
    """Writes the files that reproduce the failure of the last pass: the text before it, the error, the command.

    The text is made by running the passes before it again. If one of them fails this time, the command runs all.
    """
    *earlier, stage = passes
    module = original.clone()
    try:
        for each in earlier:
            each.apply(context(), module)
    except Exception:  # noqa: BLE001 - a user's pass may behave differently the second time
        module, rerun = original, passes
    else:
        rerun = (stage,)
    before, spec = print_module(module), ",".join(str(each.spec()) for each in rerun)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "before.mlir").write_text(before, encoding="utf-8")
    (folder / "error.txt").write_text(f"{failure}\n", encoding="utf-8")
    command = f"ttnn-jit opt {''.join(dict.fromkeys(map(_loading, rerun)))}-p '{spec}' before.mlir\n"
    (folder / "command.txt").write_text(command, encoding="utf-8")


def _loading(stage: ModulePass) -> str:
    """The command line option that loads a user's pass from the file that defines it."""
    if stage.name in _OWN_PASSES:
        return ""
    return f"--load {shlex.quote(type(stage).apply.__code__.co_filename)} "
