"""ttnn-set-compute-kernel-config: operations say how a chip's kernels compute them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.kernel_configs import config_of, configure
from ttnn_jit.transforms.texts.text_pass import TextPass

_UNSET = {"unset", "undefined"}
_FIDELITIES = ("lofi", "hifi2", "hifi3", "hifi4", "undefined")
_SWITCHES = ("true", "false", "unset")


@dataclass(frozen=True)
class TTNNSetComputeKernelConfig(TextPass):
    """Operations with a `compute_config` get the options' values where they state none; results stay on a CPU.

    Products of bf16 with more than 50,000 terms are told to add in f32, as in tt-mlir.

    Attributes:
        math_fidelity: lofi, hifi2, hifi3, hifi4, or undefined, which sets none.
        math_approx_mode, fp32_dest_acc_en, packer_l1_acc, dst_full_sync_en: true, false, or unset.
    """

    name = "ttnn-set-compute-kernel-config"
    default_version = AUGUST

    math_fidelity: str = "hifi4"
    math_approx_mode: str = "unset"
    fp32_dest_acc_en: str = "true"
    packer_l1_acc: str = "unset"
    dst_full_sync_en: str = "unset"

    def __post_init__(self) -> None:
        """Refuses other values."""
        super().__post_init__()
        for name, value in self._values().items():
            allowed = _FIDELITIES if name == "math_fidelity" else _SWITCHES
            if value not in allowed:
                raise ArgumentError(f"`{name.replace('_', '-')}={value}`", help=f"it is one of {', '.join(allowed)}")

    def _values(self) -> dict[str, str]:
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self) if each.name != "ir_version"}

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Sets the configs of a module's operations."""
        default = config_of({name: value for name, value in self._values().items() if value not in _UNSET})
        for op in module.walk():
            configure(op, default, rewriter)
