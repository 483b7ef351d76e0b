"""What a parameter of an operation may be that is a config of a chip's."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.kinds import InstanceKind
from ttnn_jit.specs.tensor_spec import DataType


class ComputeConfigKind(InstanceKind):
    """How exactly a chip's kernels compute."""

    def required_class(self) -> type:
        """A config of kernels that compute."""
        from ttnn_jit.specs.compute_config import DeviceComputeKernelConfig

        return DeviceComputeKernelConfig


class PrecisionKind(ComputeConfigKind):
    """How exactly a chip's kernels multiply matrices: a config of the caller's, its text in the IR, or None."""

    may_lack = True

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:
        """The text (specs/product_precision.py), or None."""
        if value is None:
            return value
        from ttnn_jit.specs.product_precision import ProductPrecision, names_fidelity

        if type(value) is str and names_fidelity(value):
            return value
        config = super().bind(value, dtype, what)
        return str(ProductPrecision(config.math_fidelity, getattr(config, "fp32_dest_acc_en", False)))


class ProgramConfigKind(InstanceKind):
    """How a chip splits the operation over its cores; it may hold an activation."""

    def required_class(self) -> type:
        """A program config."""
        from ttnn_jit.specs.program_configs import ProgramConfig

        return ProgramConfig
