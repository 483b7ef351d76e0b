"""What a parameter of an operation may be that is a config of a chip's."""

from __future__ import annotations

from typing import Any, ClassVar

from ttnn_jit.ops.language.kinds import InstanceKind
from ttnn_jit.specs.configs.hardware_config import check_config
from ttnn_jit.specs.tensor_spec import DataType, MathFidelity


class _ConfigKind(InstanceKind):
    """A config of a chip's, which is checked where it is used."""

    def bind(self, value: Any, dtype: DataType | None, what: str) -> Any:  # noqa: ARG002 - configs have none
        """The config itself."""
        if value is not None:
            check_config(value, self.required_class(), what)
        return value


class ComputeConfigKind(_ConfigKind):
    """How exactly a chip's kernels compute."""

    def required_class(self) -> type:
        """A config of kernels that compute."""
        from ttnn_jit.specs.configs.compute_config import DeviceComputeKernelConfig

        return DeviceComputeKernelConfig


class PrecisionKind(ComputeConfigKind):
    """How exactly a chip's kernels multiply matrices: a config of the caller's, its text in the IR, or None."""

    may_lack = True
    has_defaults: ClassVar[bool] = True
    """Whether a chip's multiplication is meant where nothing is asked too, and not exact products in float32."""

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
        """What `config` asks; None leaves it to the caller's surroundings."""
        found: MathFidelity | None = config.math_fidelity
        return found


class ConvolutionPrecisionKind(PrecisionKind):
    """The same of convolutions: exact products in float32 where nothing is asked."""

    has_defaults = False

    def fidelity_of(self, config: Any) -> MathFidelity:
        """What `config` asks, HiFi4 by default."""
        return super().fidelity_of(config) or MathFidelity.HiFi4


class ProgramConfigKind(_ConfigKind):
    """How a chip splits the operation over its cores; it may hold an activation."""

    def required_class(self) -> type:
        """A program config."""
        from ttnn_jit.specs.configs.program_configs import ProgramConfig

        return ProgramConfig
