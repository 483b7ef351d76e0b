"""Forms of specs: what specs have in common that differ in their extents alone."""

from __future__ import annotations

from collections.abc import Hashable

from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.tensor_spec import TensorSpec


class SpecForm:
    """The rank of tensors in place of their shape, and the rest of their specs; compared by identity."""


@memoized(maxsize=4096)
def form_of(spec: TensorSpec) -> SpecForm:
    """The form of a spec; strides are part of it."""
    strides = None if spec.strides is None else (spec.shape, spec.strides)
    return _form(len(spec.shape), spec.dtype, spec.layout, spec.memory_config, strides)


@memoized
def _form(*_: Hashable) -> SpecForm:
    return SpecForm()
