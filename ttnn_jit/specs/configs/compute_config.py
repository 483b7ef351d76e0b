"""Configs of the precision of a chip's kernels: `ttnn.WormholeComputeKernelConfig` and others."""

from __future__ import annotations

import enum
from typing import Annotated, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.arch import Arch
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.configs.hardware_config import HardwareConfig, flag, hardware_config, one_of, optional
from ttnn_jit.specs.tensor_spec import MathFidelity


class ThrottleLevel(enum.Enum):
    """The reduction of a chip's speed to draw less current."""

    NO_THROTTLE = 0
    LEVEL_1 = 1
    LEVEL_2 = 2
    LEVEL_3 = 3
    LEVEL_4 = 4
    LEVEL_5 = 5


class DeviceComputeKernelConfig(HardwareConfig):
    """The base of configs that operations take as `compute_kernel_config`."""


@hardware_config
class WormholeComputeKernelConfig(DeviceComputeKernelConfig):
    """Precision and speed of the kernels of a Wormhole or Blackhole chip (ttnn.WormholeComputeKernelConfig).

    On chip targets matrix products, and convolutions other than depthwise ones, obey `math_fidelity` and
    `fp32_dest_acc_en` (docs/numerics.md). Other fields are checked and compared, and have no effect.

    Attributes:
        math_fidelity: Phases of the matrix engine; None leaves it to the operation.
        math_approx_mode: Faster and less precise functions.
        fp32_dest_acc_en: Accumulate in float32.
        packer_l1_acc: Accumulate partial sums in L1.
        dst_full_sync_en: Use all of DST at once, without double buffering.
        throttle_level: How much to slow down.
    """

    math_fidelity: Annotated[MathFidelity | None, optional(one_of(MathFidelity))] = None
    math_approx_mode: Annotated[bool, flag] = True
    fp32_dest_acc_en: Annotated[bool, flag] = False
    packer_l1_acc: Annotated[bool, flag] = False
    dst_full_sync_en: Annotated[bool, flag] = False
    throttle_level: Annotated[ThrottleLevel, one_of(ThrottleLevel)] = ThrottleLevel.NO_THROTTLE


BlackholeComputeKernelConfig = WormholeComputeKernelConfig
"""ttnn's other name of the class."""


@hardware_config
class GrayskullComputeKernelConfig(DeviceComputeKernelConfig):
    """Precision and speed of the kernels of a Grayskull chip, which accumulates in 16 bits."""

    math_fidelity: Annotated[MathFidelity | None, optional(one_of(MathFidelity))] = None
    math_approx_mode: Annotated[bool, flag] = True
    dst_full_sync_en: Annotated[bool, flag] = False


def init_device_compute_kernel_config(
    arch: Arch | str,
    device_kernel_config: DeviceComputeKernelConfig | None = None,
    *,
    math_fidelity: MathFidelity = MathFidelity.LoFi,
    math_approx_mode: bool = True,
    fp32_dest_acc_en: bool = False,
    packer_l1_acc: bool = False,
    dst_full_sync_en: bool = False,
    throttle_level: ThrottleLevel = ThrottleLevel.NO_THROTTLE,
) -> DeviceComputeKernelConfig:
    """The config of a chip of `arch` (ttnn.init_device_compute_kernel_config).

    Args:
        arch: The architecture, as ``device.arch()`` returns it.
        device_kernel_config: If given, it is the result, and the keywords are ignored.
        math_fidelity: As in `WormholeComputeKernelConfig`.
        math_approx_mode: Faster and less precise functions.
        fp32_dest_acc_en: Accumulate in float32; Grayskull cannot.
        packer_l1_acc: Accumulate partial sums in L1; Grayskull cannot.
        dst_full_sync_en: Use all of DST at once.
        throttle_level: How much to slow down.

    Raises:
        ArgumentError: `arch` is no architecture, or its config refuses a field.
    """
    if arch not in tuple(Arch):
        raise ArgumentError(f"`arch` must be a ttnn.device.Arch, got {arch!r}", help="pass `device.arch()`")
    if device_kernel_config is not None:
        return check_kind(device_kernel_config, DeviceComputeKernelConfig, "`device_kernel_config`")
    common: dict[str, Any] = {
        "math_fidelity": math_fidelity,
        "math_approx_mode": math_approx_mode,
        "dst_full_sync_en": dst_full_sync_en,
    }
    if arch == Arch.GRAYSKULL:
        return GrayskullComputeKernelConfig(**common)
    return WormholeComputeKernelConfig(
        **common, fp32_dest_acc_en=fp32_dest_acc_en, packer_l1_acc=packer_l1_acc, throttle_level=throttle_level
    )
