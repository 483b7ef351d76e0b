"""numpy arrays, of any shape and strides."""

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
    """numpy arrays."""

    title = "numpy arrays"
    copy = "array.copy()"

    def holds(self, value: object) -> bool:
        """Include arrays of subclasses."""
        return is_numpy_array(value)

    def spec_of(self, tensor: Array) -> TensorSpec:
        """The spec includes the strides."""
        return spec_of_numpy_array(tensor)

    def address(self, tensor: Array) -> int:
        """The address of the first element of the array, which may be a view."""
        address: int = tensor.__array_interface__["data"][0]
        return address

    def wrapped(self, spec: TensorSpec, buffer: Buffer) -> Array:
        """Dense."""
        return numpy_array(spec, buffer)

    def empty(self, spec: TensorSpec) -> Array:
        """Dense."""
        import numpy

        return numpy.empty(spec.shape, dtype=spec.dtype.traits.numpy)

    def require_writable(self, tensor: Array, spec: TensorSpec, what: str) -> None:
        """Refuse read-only arrays and arrays whose elements share addresses."""
        if not tensor.flags.writeable:
            raise ArgumentError(f"{what}, which the function writes into, is read-only", help=f"pass `{self.copy}`")
        super().require_writable(tensor, spec, what)

    def write(self, target: Array, source: Array) -> None:
        """Let numpy copy the elements."""
        target[...] = source

    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Require numpy's own array class, and dtypes that are numpy's singletons."""
        return are_plain_numpy(tensors)

    def conditions(self, plan: ProgramPlan, arguments: range, _target: SystemDesc | None) -> Iterator[str]:
        """Compare class, dtype, shape and strides of each."""
        return self.conditions_of_hidden(plan, arguments)

    def conditions_of_hidden(self, _plan: ProgramPlan, hidden: Iterable[int]) -> Iterator[str]:
        """Compare class, dtype, shape and strides of each."""
        for i in hidden:
            yield from (f"type(a{i}) is Array and a{i}.dtype is D{i}", f"a{i}.shape == shape{i}")
            yield f"a{i}.strides == strides{i}"

    def address_of(self, index: int) -> str:
        """The text of `address`."""
        return f"p{index} = a{index}.__array_interface__['data'][0]"

    def writable(self, index: int) -> Iterable[str]:
        """Require an array that is not read-only."""
        return (f"a{index}.flags.writeable",)

    def wrap(self, index: int) -> Iterable[str]:
        """The text of `wrapped`."""
        return (f" r{index} = wrap(S{index}, b{index})",)

    def make(self, index: int, _spec: TensorSpec) -> Iterable[str]:
        """The text of `empty`."""
        return (
            f" r{index} = empty(shape{index}, D{index})",
            f" p{index} = r{index}.__array_interface__['data'][0]",
        )

    def convert_result(self, result: Array, spec: TensorSpec) -> Array:
        """Widen bfloat16, which numpy lacks, to float32, which is exact."""
        return floats_of_bfloat16(result) if spec.dtype.is_upper_half else result

    def result_text(self, index: int, spec: TensorSpec) -> str:
        """The text of `convert_result`."""
        return f"floats_of_bfloat16(r{index})" if spec.dtype.is_upper_half else super().result_text(index, spec)

    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """The objects of numpy, the functions that make results, and what they are made of."""
        import numpy

        specs = [*enumerate((*plan.inputs, *plan.outputs))]
        dtypes = {f"D{i}": numpy.dtype(spec.dtype.traits.numpy) for i, spec in specs}
        shapes = {f"shape{i}": tuple(spec.shape) for i, spec in specs}
        strides = {f"strides{i}": _byte_strides(spec) for i, spec in specs[: len(plan.inputs)]}
        empty = {"empty": numpy.empty, "wrap": numpy_array, "floats_of_bfloat16": floats_of_bfloat16}
        return {"Array": numpy.ndarray, **empty, **dtypes, **shapes, **strides}


def _byte_strides(spec: TensorSpec) -> tuple[int, ...]:
    return tuple(stride * spec.dtype.itemsize for stride in spec.element_strides)
