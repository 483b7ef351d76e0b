"""The metadata of a hidden input, a tensor that a compiled function reads from its environment, for guards."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries.tensor_library import TensorLibrary
from ttnn_jit.specs.meshes.mesh_devices import MeshPlacement
from ttnn_jit.specs.spec_forms import SpecForm, form_of
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class LibraryMark(TensorMark):
    """Metadata of a tensor; its text is the same in every process.

    Attributes:
        title: The title of its library.
        spec: Its spec.
        placement: Its placement on a mesh; None for other tensors.
    """

    title: str
    spec: TensorSpec
    library: TensorLibrary = field(repr=False, compare=False)
    placement: MeshPlacement | None = None

    @property
    def form(self) -> FormMark:
        """The mark of tensors that differ from this one in their extents alone."""
        return FormMark(self.title, form_of(self.spec), self.library)

    def holds(self, value: Any) -> bool:
        """Whether `value` is a tensor of that library and spec."""
        if not self.library.holds(value):
            return False
        try:
            found = self.library.spec_of(value), self.library.placement_of(value)
            return found == (self.spec, self.placement)
        except TtnnJitError:
            return False


@dataclass(frozen=True)
class FormMark(TensorMark):
    """Metadata of tensors that differ in their extents alone.

    Attributes:
        title: The title of their library.
        form: The form of their specs.
    """

    title: str
    form: SpecForm
    library: TensorLibrary = field(repr=False, compare=False)

    def holds(self, value: Any) -> bool:
        """Whether `value` is a tensor of that library and form."""
        if not self.library.holds(value):
            return False
        try:
            return form_of(self.library.spec_of(value)) is self.form
        except TtnnJitError:
            return False
