"""The passes that a command line of ``opt`` names, for modules of this compiler and for texts of tt-mlir."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from xdsl.passes import ModulePass

from ttnn_jit.compiler.texts.emitpy_pipelines import PIPELINES as EMITPY
from ttnn_jit.compiler.texts.emitpy_pipelines import emitpy_passes
from ttnn_jit.compiler.texts.metal_pipeline import (
    FROM_D2M,
    STAGES_ON_CORES,
    MetalPipelineOfD2M,
    MetalPipelineOfTexts,
    takes_texts,
    with_stages_merged,
)
from ttnn_jit.compiler.texts.metal_programs import require_options
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.options import USER_PASSES, CompileOptions
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.passes.stablehlo_pipeline import StablehloPipeline
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import TTPopulateArgumentTypes
from ttnn_jit.transforms.texts.registry import (
    REFUSED_PASSES,
    named_passes,
    text_pass_class,
    text_pass_names,
    text_passes,
)


@dataclass(frozen=True)
class ChosenPasses:
    """Passes in order.

    A name may be that of a pass over modules of this compiler, of one over texts, or of both: `canonicalize` is, and so
    is a user's pass.

    Attributes:
        own: For a module of this compiler; None if a pass does not take one.
        texts: For a text of tt-mlir; None if a pass does not take one.
    """

    own: tuple[ModulePass, ...] | None
    texts: tuple[ModulePass, ...] | None

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.own or self.texts)


_NAMES_OF_2024 = {"ttir-to-ttmetal-backend-pipeline": pipeline.TTMETAL_PIPELINE}
"""Name of a pipeline in 2024 -> its name since."""


def pass_options() -> tuple[str, ...]:
    """The names of all passes, each of which is an option; those that are refused are named too, to say why."""
    return tuple(
        dict.fromkeys(
            (
                *pipeline.pass_names(),
                *text_pass_names(),
                *EMITPY,
                pipeline.TTMETAL_PIPELINE,
                FROM_D2M,
                *STAGES_ON_CORES,
                *_NAMES_OF_2024,
                *REFUSED_PASSES,
            )
        )
    )


def chosen_passes(options: argparse.Namespace) -> ChosenPasses:
    """The passes of a command line, up to ``--until``.

    Raises:
        ArgumentError: A pass or an option of one is unknown or refused, or no kind of module is taken by all.
    """
    texts = [*options.passes]
    if options.pass_pipeline is not None:
        texts.append(pipeline.without_anchors(options.pass_pipeline))
    named = [(_NAMES_OF_2024.get(name, name), given) for text in texts for name, given in named_passes(text)]
    named = with_stages_merged(named)
    for name, _ in named:
        if name in REFUSED_PASSES:
            text_pass_class(name)
        pipeline.known_name(name, (*text_pass_names(), *EMITPY, pipeline.TTMETAL_PIPELINE, FROM_D2M, "all"))
    chosen = ChosenPasses(_own(named), _texts(named, options.ir_version))
    if chosen.own is None and chosen.texts is None:
        own_only = next(name for name, _ in named if name not in {*text_pass_names(), *EMITPY, FROM_D2M})
        text_only = next(name for name, _ in named if name not in pipeline.pass_names())
        raise ArgumentError(
            f"`{own_only}` takes modules of this compiler, and `{text_only}` texts of tt-mlir", help="run one of them"
        )
    return _until(chosen, options)


def _own(named: Sequence[tuple[str, str]]) -> tuple[ModulePass, ...] | None:
    known = {*pipeline.pass_names(), pipeline.TTMETAL_PIPELINE, "all"}
    if any(name not in known or pipeline.is_over_texts(name) for name, _ in named):
        return None
    if any(takes_texts(*each) for each in named):
        return None
    chosen: list[ModulePass] = []
    for name, options in named:
        if name == "all":
            chosen += pipeline.stage_passes(CompileOptions())
        elif name in text_pass_names() and not _is_own_spec(name, options):
            return None
        else:
            chosen += pipeline.parse_passes(f"{name}{{{options}}}" if options else name)
    return tuple(chosen)


def _is_own_spec(name: str, options: str) -> bool:
    """Whether this compiler's pass of a name that texts have too takes the options."""
    try:
        pipeline.parse_passes(f"{name}{{{options}}}" if options else name)
    except ArgumentError:
        return False
    return True


def _texts(named: Sequence[tuple[str, str]], ir_version: str) -> tuple[ModulePass, ...] | None:
    chosen: list[ModulePass] = []
    for name, given in named:
        if takes_texts(name, given):
            require_options(given)
            chosen.append(MetalPipelineOfTexts(given))
        elif name == FROM_D2M:
            require_options(given)
            chosen.append(MetalPipelineOfD2M(given))
        elif name in EMITPY:
            chosen += emitpy_passes(name, given, ir_version or "")
        elif pipeline.is_over_texts(name) or name in USER_PASSES:
            chosen += _over_texts(name, given)
        elif name in text_pass_names():
            chosen += text_passes(name, given, ir_version=ir_version or "")
        else:
            return None
    return tuple(chosen)


def _over_texts(name: str, given: str) -> list[ModulePass]:
    """A pass of this compiler's kind that takes texts, with the options of a command line."""
    kinds = _ARGUMENT_TYPES.search(given) if name == StablehloPipeline.name else None
    rest = _ARGUMENT_TYPES.sub("", given).strip() if kinds else given
    stated = re.sub(r"(?<!\S)[\w-]+(?!\S)", r"\g<0>=true", rest)  # a switch, as mlir-opt takes it
    first = text_passes(TTPopulateArgumentTypes.name, kinds[0]) if kinds else ()
    return [*first, *pipeline.parse_passes(f"{name}{{{stated}}}" if stated else name)]


_ARGUMENT_TYPES = re.compile(r"(?<!\S)argument-types=\S+")
"""The option of `stablehlo-pipeline` that is a pass of its own, which tt-mlir runs first."""


def _until(chosen: ChosenPasses, options: argparse.Namespace) -> ChosenPasses:
    """The passes up to ``--until``; the passes that options of printing name are known."""
    for name in (
        *options.mlir_print_ir_before,
        *options.mlir_print_ir_after,
        *([options.until] if options.until else ()),
    ):
        pipeline.known_name(name, (*text_pass_names(), *EMITPY))
    if not options.until:
        return chosen
    names = [each.name for each in chosen.own or chosen.texts or ()]
    if options.until not in names:
        raise ArgumentError(
            f"`--until={options.until}`: the pass is not among those to run: {', '.join(names) or 'none'}"
        )
    return ChosenPasses(_cut(chosen.own, options.until), _cut(chosen.texts, options.until))


def _cut(passes: tuple[ModulePass, ...] | None, until: str) -> tuple[ModulePass, ...] | None:
    if passes is None:
        return None
    names = [each.name for each in passes]
    return passes[: names.index(until) + 1]
