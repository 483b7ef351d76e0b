"""The passes and pipelines over texts, by name; a file is loaded when its pass is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path

from ttnn_jit.diagnostics.errors import ArgumentError, InternalError, RefusalError
from ttnn_jit.process.memoized import memoized
from ttnn_jit.transforms.texts.text_pass import TextPass, TextPipeline

_PACKAGE = "ttnn_jit.transforms.texts"
_FOLDERS = ("passes", "standalone_passes", "ttnn_passes", "d2m_passes")

REFUSED_PASSES = {
    "ttnn-optimizer": "it asks a model of the chip which layouts are fast; a CPU has none",
    "ttnn-operation-validation-and-fallback": "it asks a model of the chip which operations it takes",
    "ttnn-row-major-layout-propagation": "it asks a model of the chip which layouts it takes",
    "ttnn-prepare-conv2d-weights-and-bias": "prepared weights depend on the chip's kernels",
    "ttnn-workaround": "workarounds go around faults of the chip's kernels; none of them change a result",
    "ttnn-collect-perf-metrics": "it describes a chip's memory traffic",
    "ttnn-rm-layout-propagation": "it asks a model of the chip which layouts it takes",
    "ttnn-decomposition": "it goes around what the chip's kernels do not take",
    "ttnn-greedy-l1-spill-management": "it asks a model of the chip what its L1 holds; a CPU has none",
    "ttnn-greedy-memory-layout-propagation": "it asks a model of the chip which layouts are fast; a CPU has none",
    "ttnn-prepare-conv3d-weights": "prepared weights depend on the chip's kernels",
    "ttnn-allocate-distributed-op-buffers": "only the chip's collectives have scratch buffers",
    "ttnn-allocate-distributed-op-semaphores": "only the chip's collectives have semaphores",
    "ttnn-resolve-tt-lang-kernels": "it compiles kernels of another language for the chip",
    "ttnn-memory-management": "it moves tensors between memories of the chip",
    "ttkernel-control-dst-section": "sections of DST are those of `d2m` kernels here",
    "cpu-hoist-const-eval": "functions of the host are LLVM code there",
    "cpu-hoist-manually-tagged-ops": "functions of the host are LLVM code there",
    "ttnn-weight-bfp8-conversion": "narrower weights change results",
    "convert-ttnn-to-emitc": "no C++ is emitted here; `translate --mlir-to-python` emits Python",
    "convert-ttkernel-to-emitc": "no C++ is emitted here",
    "ttir-to-emitc-pipeline": "no C++ is emitted here; `translate --mlir-to-python` emits Python",
    "ttnn-backend-to-emitc-pipeline": "no C++ is emitted here; `translate --mlir-to-python` emits Python",
    "ttnn-common-to-emitc-pipeline": "no C++ is emitted here; `translate --mlir-to-python` emits Python",
    "ttnn-tuplify-tensors": "only emitted code takes its tensors as one tuple",
    "stablehlo-complex-data-type-conversion": "TTIR has no complex numbers here",
    "ttcore-one-shot-bufferize": "texts of tensors run as they are, by `ttnn-jit run`",
    "ttnn-create-d2m-subgraphs": "`@ttnn_jit.jit()` partitions kernels; texts of TTNN run as they are",
    "convert-ttir-to-linalg": "linalg is not lowered here; TTIR runs as it is, by `ttnn-jit run`",
    "linalg-to-llvm-pipeline": "linalg is not lowered here; TTIR runs as it is, by `ttnn-jit run`",
    "convert-ttir-to-nvvm": "no GPU code is made here",
}
"""Passes of tt-mlir that are refused -> why."""


@memoized
def text_pass_names() -> tuple[str, ...]:
    """The names of the passes and pipelines over texts, in alphabetical order."""
    return tuple(sorted([*_files(), *_pipelines()]))


@memoized
def _files() -> dict[str, str]:
    """Name of a pass -> the module that declares it."""
    files = [file for folder in _FOLDERS for file in (Path(__file__).parent / folder).glob("*.py")]
    return {
        file.stem.removesuffix("_texts").replace("_", "-"): f"{_PACKAGE}.{file.parent.name}.{file.stem}"
        for file in files
        if not file.stem.startswith("_")
    }


@memoized
def _pipelines() -> dict[str, str]:
    """Name of a pipeline -> the module that declares it."""
    source = (Path(__file__).parent / "pipelines.py").read_text(encoding="utf-8")
    return dict.fromkeys(re.findall(r'^    name = "([\w-]+)"$', source, re.MULTILINE), f"{_PACKAGE}.pipelines")


@memoized
def text_pass_class(name: str) -> type[TextPass]:
    """The pass of that name.

    Raises:
        ArgumentError: There is none.
        RefusalError: It is refused.
    """
    if name in REFUSED_PASSES:
        raise RefusalError(f"`{name}` is not run here: {REFUSED_PASSES[name]}")
    if name not in text_pass_names():
        raise ArgumentError(f"unknown pass `{name}`")
    module = import_module((_pipelines() | _files())[name])
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, TextPass) and getattr(value, "name", None) == name:
            return value
    raise InternalError(f"{module.__file__} has no pass whose name is {name!r}")


def described() -> Iterator[tuple[str, str, str]]:
    """Name, options and first sentence of each pass."""
    for name in text_pass_names():
        kind = text_pass_class(name)
        own = [each for each in fields(kind) if each.name != "ir_version"]
        options = ", ".join(f"`{each.name.replace('_', '-')}={_spelled(each.default)}`" for each in own)
        yield f"`{name}`", options, (kind.__doc__ or "").partition("\n")[0].strip()


def _spelled(default: object) -> str:
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return str(default).lower() if isinstance(default, bool) else str(default)


def text_passes(name: str, options: str, *, ir_version: str = "") -> tuple[TextPass, ...]:
    """The passes that a pass or pipeline of that name stands for.

    Raises:
        ArgumentError: There is none, or an option is wrong.
    """
    return _expanded(text_pass_class(name).with_options(options), ir_version)


def _expanded(one: TextPass, ir_version: str) -> tuple[TextPass, ...]:
    if isinstance(one, TextPipeline):
        return tuple(inner for each in one.passes() for inner in _expanded(each, one.ir_version or ir_version))
    return (replace(one, ir_version=ir_version) if ir_version and not one.ir_version else one,)


def named_passes(text: str) -> Iterator[tuple[str, str]]:
    """Name and options of each pass in ``a,b{option=value}``.

    Raises:
        ArgumentError: It is no pipeline.
    """
    rest = text.strip()
    while rest:
        match = re.match(r"\s*(\w[\w-]*)\s*", rest)
        if match is None:
            raise ArgumentError(f"this is no pipeline: {text!r}", help="write passes as `name{option=value},name`")
        name, rest = match[1], rest[match.end() :]
        options = ""
        if rest.startswith("{"):
            end = _closing(rest, text)
            options, rest = rest[1:end], rest[end + 1 :].strip()
        if rest and not rest.startswith(","):
            raise ArgumentError(f"this is no pipeline: {text!r}", help="write passes as `name{option=value},name`")
        rest = rest[1:]
        yield name, options


def _closing(text: str, whole: str) -> int:
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return index
    raise ArgumentError(f"this is no pipeline: {whole!r}", help="a `{` is not closed")
