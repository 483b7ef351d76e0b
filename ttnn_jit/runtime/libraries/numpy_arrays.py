"""numpy's arrays, with any shape and strides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.numpy_array import are_plain_numpy, is_numpy_array, spec_of_numpy_array
from ttnn_jit.runtime.elements.numpy_elements import floats_of_bfloat16, numpy_array
from ttnn_jit.runtime.libraries.tensor_library import ForeignLibrary
from ttnn_jit.runtime.memory.buffer import Buffer
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import numpy

    from ttnn_jit.runtime.plans.plan import ProgramPlan

    Array = numpy.ndarray[Any, Any]


class NumpyArrays(ForeignLibrary):
    """Arrays of numpy."""

    title = "numpy arrays"
    copy = "array.copy()"

    def holds(self, value: object) -> bool:
        """Of any subclass."""
        return is_numpy_array(value)

    def spec_of(self, tensor: Array) -> TensorSpec:
        """With its strides."""
        return spec_of_numpy_array(tensor)

    def address(self, tensor: Array) -> int:
        """That of the array, which may be a view."""
        address: int = tensor.__array_interface__["data"][0]
        return address

    def wrapped(self, spec: TensorSpec, buffer: Buffer) -> Array:
        """Dense."""
        return numpy_array(spec, buffer)

    def made(self, spec: TensorSpec) -> Array:
        """Dense."""
        import numpy

        return numpy.empty(spec.shape, dtype=spec.dtype.traits.numpy)

    def require_writable(self, tensor: Array, spec: TensorSpec, what: str) -> None:
        """A read-only one cannot be, nor one whose elements share addresses."""
        if not tensor.flags.writeable:
            raise ArgumentError(f"{what}, which the function writes into, is read-only", help=f"pass `{self.copy}`")
        super().require_writable(tensor, spec, what)

    def write(self, target: Array, source: Array) -> None:
        """By numpy."""
        target[...] = source

    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Of numpy's own class, and of types that are its own objects."""
        return are_plain_numpy(tensors)

    def conditions(self, plan: ProgramPlan, arguments: range, _target: SystemDesc | None) -> Iterator[str]:
        """Class, dtype, shape and strides of each."""
        return self.conditions_of_hidden(plan, arguments)

    def conditions_of_hidden(self, plan: ProgramPlan, hidden: Iterable[int]) -> Iterator[str]:
        """Class, dtype, shape and strides of each."""
        for i in hidden:
            spec = plan.inputs[i]
            strides = tuple(stride * spec.dtype.itemsize for stride in spec.element_strides)
            yield from (f"type(a{i}) is Array and a{i}.dtype is D{i}", f"a{i}.shape == {tuple(spec.shape)}")
            yield f"a{i}.strides == {strides}"

    def address_of(self, index: int) -> str:
        """As `address` finds it."""
        return f"p{index} = a{index}.__array_interface__['data'][0]"

    def writable(self, index: int) -> Iterable[str]:
        """One that is not read-only."""
        return (f"a{index}.flags.writeable",)

    def wrap(self, index: int) -> Iterable[str]:
        """As `wrapped` does."""
        return (f" r{index} = wrap(S{index}, b{index})",)

    def make(self, index: int, spec: TensorSpec) -> Iterable[str]:
        """As `made` does."""
        return (
            f" r{index} = empty({tuple(spec.shape)}, D{index})",
            f" p{index} = r{index}.__array_interface__['data'][0]",
        )

    def handed_out(self, result: Array, spec: TensorSpec) -> Array:
        """Floats that numpy lacks as float32, which has them exactly."""
        return floats_of_bfloat16(result) if spec.dtype.is_upper_half else result

    def given(self, index: int, spec: TensorSpec) -> str:
        """As `handed_out` makes it."""
        return f"floats_of_bfloat16(r{index})" if spec.dtype.is_upper_half else super().given(index, spec)

    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """numpy's, and what makes results."""
        import numpy

        dtypes = {f"D{i}": numpy.dtype(spec.dtype.traits.numpy) for i, spec in enumerate((*plan.inputs, *plan.outputs))}
        made = {"empty": numpy.empty, "wrap": numpy_array, "floats_of_bfloat16": floats_of_bfloat16}
        return {"Array": numpy.ndarray, **made, **dtypes}
