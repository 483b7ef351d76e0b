"""Texts of TTIR as d2m modules, as `ttir-to-ttmetal-pipeline` leaves them, and the programs of these modules."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ttnn_jit.compiler.driver import compile_scheduled
from ttnn_jit.compiler.texts.text_programs import TextModule, TextProgram
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.writing.editing import detach, detach_all
from ttnn_jit.frontend.ir.lowered_text import LoweredText
from ttnn_jit.frontend.ir.lowering import FunctionLowering
from ttnn_jit.frontend.ir.texts import entries_of
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

    from ttnn_jit.runtime.programs.program import Program


@dataclass(frozen=True)
class Lowered:
    """What a lowered module does not say.

    Attributes:
        source: The module before.
        mesh: The extents of its mesh.
        entries: Name of an entry point -> where each of its inputs comes from, and the specs.
    """

    source: ModuleOp
    mesh: tuple[int, ...]
    entries: Mapping[str, LoweredText]


_LOWERED: weakref.WeakKeyDictionary[ModuleOp, Lowered] = weakref.WeakKeyDictionary()
"""Module that `lower_to_d2m` changed -> how it was lowered."""


def require_options(text: str) -> None:
    """Accepts the options of `ttir-to-ttmetal-pipeline` over texts, which change no result here.

    Raises:
        ArgumentError: An option is unknown, or asks for a module of this compiler.
    """
    for each in text.split():
        name, separator, value = each.partition("=")
        if name == "ttnn-mode" and value == "true":
            raise ArgumentError("`ttnn-mode=true` takes modules with layouts, by `ttnn-jit opt`")
        if name not in _OPTIONS or not separator:
            raise ArgumentError(
                f"`ttir-to-ttmetal-pipeline` has no option `{name}`", help=f"its options are {', '.join(_OPTIONS)}"
            )


_OPTIONS = (
    "allow-l1-output-spilling", "available-l1-addr-range", "collapse-tensors-2d",
    "debug-d2m-coalescing-inference", "default-input-memspace", "default-output-memspace", "disable-l1-acc",
    "disable-tolayout-folding", "enable-elementwise-fusion", "enable-eltwise-reduction-fusion",
    "enable-multicast-inference", "enable-op-scheduler", "force-compile-time-args",
    "force-spill-to-dram-if-legal", "global-data-format-target", "insert-profiler-traces", "matmul-interchange",
    "max-dst-physical-size-tiles", "mesh-shape", "mesh-topology", "mock-system-desc-arch", "num-stream-buffers",
    "override-device-shape", "profiler-traits", "set-math-fidelity", "stream-insert-policy", "system-desc-path",
    "test-assume-l1-capacity", "test-buffer-size-policy", "ttnn-mode", "use-tensor-accessor-dma",
    "use-tile-matmul",
)  # fmt: skip
"""The options of upstream's pipeline: how the memory and the cores of a chip are used."""


def lower_to_d2m(module: ModuleOp, mesh: Sequence[int]) -> None:
    """Replaces the functions of a text of TTIR by its entry points as scheduled kernels.

    Each entry point takes the constants of the text as further arguments. The target is ``cpu``, whose kernels also
    reduce, multiply matrices and move tensors.

    Raises:
        CompileError: An op is not executed here.
        PassError: A stage refuses a function.
    """
    from xdsl.dialects.func import FuncOp

    from ttnn_jit.transforms import pipeline

    before = module.clone()
    source = TextModule(module, PRESETS["cpu"], mesh)
    lowered: dict[str, LoweredText] = {}
    functions: list[FuncOp] = []
    attributes: Mapping[str, Attribute] = {}
    for name in entries_of(module):
        own = FunctionLowering(source.functions, source.target, name, source.mesh).lower_function(
            source.functions[name]
        )
        own.require_no_host_calls("kernels of a chip")
        pipeline.run(own.module, CompileOptions(), until=pipeline.SCHEDULED)
        lowered[name] = own
        functions += [each for each in own.module.body.block.ops if isinstance(each, FuncOp)]
        attributes = own.module.attributes
    for old in detach_all(module.body.block):
        old.drop_all_references()
    for function in functions:
        detach(function)
        module.body.block.add_op(function)
    module.attributes = {**attributes}
    _LOWERED[module] = Lowered(before, tuple(mesh), lowered)


def source_of(module: ModuleOp) -> ModuleOp:
    """The module of TTIR of which `lower_to_d2m` made a module.

    Raises:
        ArgumentError: `lower_to_d2m` did not make it.
    """
    return _lowered(module).source


def _lowered(module: ModuleOp) -> Lowered:
    lowered = _LOWERED.get(module)
    if lowered is None:
        raise ArgumentError(
            "the module was not lowered to kernels", help="`ttir_to_ttmetal_backend_pipeline` lowers a module"
        )
    return lowered


class MetalModule(TextModule):
    """The programs of a d2m module that `lower_to_d2m` left.

    Args:
        module: The module.

    Raises:
        ArgumentError: `lower_to_d2m` did not make the module.
    """

    def __init__(self, module: ModuleOp) -> None:
        lowered = _lowered(module)
        super().__init__(module, PRESETS["cpu"], lowered.mesh)
        self._lowered = lowered.entries

    def program(self, name: str) -> TextProgram:
        """The program of an entry point, as it stands in the module."""
        if name not in self._programs:
            from ttnn_jit.transforms.passes.inline import reduce_to_entry_point

            own = self.module.clone()
            reduce_to_entry_point(own, name)
            self._programs[name] = TextProgram(self, replace(self._lowered[name], module=own))
        return self._programs[name]

    def compiled(self, module: ModuleOp) -> Program:
        """The program of a scheduled module; equal modules have one."""
        text = print_module(module)
        if text not in self._compiled:
            self._compiled[text] = compile_scheduled(module)
        return self._compiled[text]
