"""Kinds of parameters that are configs of a chip."""

from __future__ import annotations

from typing import Any, ClassVar

from ttnn_jit.ops.language.kinds import InstanceKind
from ttnn_jit.specs.configs.hardware_config import check_config
from ttnn_jit.specs.tensor_spec import DataType, MathFidelity


class _ConfigKind(InstanceKind):
    """A config of a chip, which is checked at the call."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - configs have none
        """The config itself."""
        if value is not None:
            check_config(value, self.required_class(), what)
        return value


class ComputeConfigKind(_ConfigKind):
    """A config of the accuracy of a chip's kernels."""

    def required_class(self) -> type:
        """The class of compute kernel configs."""
        from ttnn_jit.specs.configs.compute_config import DeviceComputeKernelConfig

        return DeviceComputeKernelConfig


class PrecisionKind(ComputeConfigKind):
    """The precision of matrix products: a compute kernel config, its text in the IR, or None."""

    omits_none = True
    has_defaults: ClassVar[bool] = True
    """Whether None means the default precision of a chip, and not exact products in float32."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:
        """The text (specs/product_precision.py), or None."""
        if value is None:
            return value
        from ttnn_jit.specs.product_precision import ProductPrecision, names_fidelity

        if type(value) is str and names_fidelity(value):
            return value
        config = super().bind(value, dtype, what)
        return str(ProductPrecision(self.fidelity_of(config), getattr(config, "fp32_dest_acc_en", False)))

    def fidelity_of(self, config: Any) -> MathFidelity | None:
        """The fidelity of `config`; None: the default where the operation runs."""
        found: MathFidelity | None = config.math_fidelity
        return found


class ConvolutionPrecisionKind(PrecisionKind):
    """The precision of convolutions; None means exact products in float32."""

    has_defaults = False

    def fidelity_of(self, config: Any) -> MathFidelity:
        """The fidelity of `config`, by default HiFi4."""
        return super().fidelity_of(config) or MathFidelity.HiFi4


class ProgramConfigKind(_ConfigKind):
    """The split of an operation over a chip's cores; it may contain an activation."""

    def required_class(self) -> type:
        """The class of program configs."""
        from ttnn_jit.specs.configs.program_configs import ProgramConfig

        return ProgramConfig
