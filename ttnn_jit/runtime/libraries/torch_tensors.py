"""torch tensors: strided, on the CPU and without gradients, of any shape and strides."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.foreign.torch_autocast import CAST_HELP, autocast_is_on, autocast_query
from ttnn_jit.foreign.torch_tensor import is_torch_tensor, spec_of_torch_tensor
from ttnn_jit.runtime.elements.torch_elements import torch_tensor, torch_wrapper
from ttnn_jit.runtime.libraries.marks import LibraryMark
from ttnn_jit.runtime.libraries.tensor_library import ForeignLibrary, WarmCall
from ttnn_jit.runtime.memory.buffer import Buffer
from ttnn_jit.runtime.native.generated import MISS, define
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import torch

    from ttnn_jit.runtime.plans.plan import ProgramPlan


class TorchTensors(ForeignLibrary):
    """torch tensors."""

    title = "torch tensors"
    copy = "tensor.clone()"

    def holds(self, value: object) -> bool:
        """Include tensors of subclasses."""
        return is_torch_tensor(value)

    def spec_of(self, tensor: torch.Tensor) -> TensorSpec:
        """The spec includes the strides."""
        return spec_of_torch_tensor(tensor)

    def address(self, tensor: torch.Tensor) -> int:
        """The address of the first element."""
        return tensor.data_ptr()

    def wrapped(self, spec: TensorSpec, buffer: Buffer) -> torch.Tensor:
        """Dense."""
        return torch_tensor(spec, buffer)

    def empty(self, spec: TensorSpec) -> torch.Tensor:
        """On the CPU, whatever the default device is."""
        import torch

        return torch.empty(spec.shape, dtype=spec.dtype.torch, device="cpu")

    def require_writable(self, tensor: torch.Tensor, spec: TensorSpec, what: str) -> None:
        """Refuse an expanded tensor, and an inference tensor outside of inference mode, as torch does."""
        import torch

        if tensor.is_inference() and not torch.is_inference_mode_enabled():
            raise ArgumentError(
                f"{what}, which the function writes into, was made in inference mode",
                help=f"call it in `torch.inference_mode()`, or pass `{self.copy}`",
            )
        super().require_writable(tensor, spec, what)

    def write(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Let torch copy the elements: it counts versions and refuses tensors that cannot be written."""
        target.copy_(source)

    def ignored_mode(self, function: str) -> str | None:
        """Automatic mixed precision."""
        return f"`torch.autocast` is on and has no effect on `{function}`: {CAST_HELP}" if autocast_is_on() else None

    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Require torch's own tensor class."""
        torch_module = sys.modules.get("torch")
        return torch_module is not None and all(type(tensor) is torch_module.Tensor for tensor in tensors)

    def table_key(self, tensors: Sequence[torch.Tensor]) -> tuple[object, ...]:
        """Shape, stride and dtype of each, which select the program of strided CPU tensors without gradients."""
        return tuple(part for tensor in tensors for part in (tensor.shape, tensor.stride(), tensor.dtype))

    def look_up(self, count: int, table: dict[Any, WarmCall]) -> WarmCall:
        """Check first that each tensor is a strided CPU tensor without gradients."""
        return _look_up(count, table)

    def with_metadata_guard(self, warm: WarmCall, tensors: Sequence[torch.Tensor]) -> WarmCall | None:
        """Check by torch's own guard, if torch has one. It also checks torch's modes, such as `torch.autocast`.

        The guard rejects a tensor that is passed twice; the table serves those calls. Tensors that require gradients
        have no guard, because `torch.no_grad` decides whether they are accepted.
        """
        from ttnn_jit.foreign.torch_private import metadata_guard

        if any(tensor.requires_grad for tensor in tensors) or len(set(map(id, tensors))) < len(tensors):
            return None
        check = metadata_guard(tensors)
        return None if check is None else _checked(len(tensors))(check, warm)

    def conditions_of_hidden(self, _plan: ProgramPlan, hidden: Mapping[int, Any]) -> Iterator[str]:
        """Check by torch's own guard, if torch has one; if it rejects the tensors, by all checks of a first call.

        The guard rejects some valid tensors: one passed twice, or a parameter in place of a tensor.
        """
        if hidden:
            names = [f"a{i}" for i in hidden]
            quick = [f"not ({' or '.join(f'{name}.is_nested' for name in names)})", f"fits({', '.join(names)})"]
            if any(tensor.requires_grad for tensor in hidden.values()):
                quick.append("not grad_enabled()")
            yield f"({' and '.join(quick)}) or ({' and '.join(f'holds{i}(a{i})' for i in hidden)})"

    def names_of_hidden(self, plan: ProgramPlan, hidden: Mapping[int, Any]) -> dict[str, Any]:
        """The guards, which hold no reference to a tensor."""
        if not hidden:
            return {}
        import torch

        from ttnn_jit.foreign.torch_private import metadata_guard

        holds = {f"holds{i}": LibraryMark(self.title, plan.inputs[i], self).holds for i in hidden}
        fits = metadata_guard([*hidden.values()]) or (lambda *_: False)
        return {"grad_enabled": torch.is_grad_enabled, "fits": fits, **holds}

    def address_of(self, index: int) -> str:
        """A tensor without memory is a miss, which the slow path refuses."""
        return f"if not (p{index} := a{index}.data_ptr()): return MISS"

    def writable(self, index: int) -> Iterable[str]:
        """An inference tensor is a miss: `require_writable` decides."""
        return (f"not a{index}.is_inference()",)

    def note_write(self, index: int) -> Iterable[str]:
        """Increment the version, so that torch detects stale tensors in a backward pass."""
        return (f"increment_version(a{index})",)

    def wrap(self, index: int) -> Iterable[str]:
        """Call the wrapper function of that result."""
        return (f" r{index} = wrap{index}(b{index})",)

    def make(self, index: int, _spec: TensorSpec) -> Iterable[str]:
        """Dense."""
        fresh = f"empty_strided(shape{index}, strides{index}, D{index})"
        return f" r{index} = {fresh}", f" p{index} = r{index}.data_ptr()"

    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """The functions that make results, and their dtypes."""
        from torch.autograd.graph import increment_version

        from ttnn_jit.foreign.torch_private import empty_strided

        outputs = {len(plan.inputs) + number: spec for number, spec in enumerate(plan.outputs)}
        return {
            "increment_version": increment_version,
            "empty_strided": empty_strided(),
            **{f"wrap{i}": torch_wrapper(spec) for i, spec in outputs.items() if self.is_pooled(spec)},
            **{f"D{i}": spec.dtype.torch for i, spec in outputs.items()},
            **{f"shape{i}": tuple(spec.shape) for i, spec in outputs.items()},
            **{f"strides{i}": spec.element_strides for i, spec in outputs.items()},
        }


@cache
def _checked(count: int) -> Callable[[Callable[..., bool], WarmCall], WarmCall]:
    """From a metadata guard of `count` tensors and a `WarmCall` to a call that evaluates the guard first."""
    from ttnn_jit.foreign.torch_private import dispatch_modes

    names = [f"a{i}" for i in range(count)]
    arguments = ", ".join(names)
    lines = [
        "def checked(check, warm):",
        f" def call({arguments}):",
        "  try:",
        f"   if {' or '.join(f'{name}.is_nested' for name in names)}: return MISS",
        "  except (AttributeError, TtnnJitError): return MISS",  # no torch tensor; one that is being traced
        f"  return warm({arguments}) if check({arguments}) and not dispatch_modes() else MISS",
        " return call",
    ]
    scope = {"MISS": MISS, "dispatch_modes": dispatch_modes(), "TtnnJitError": TtnnJitError}
    return define("checked", lines, scope)


def _look_up(count: int, table: dict[Any, WarmCall]) -> WarmCall:
    import torch

    from ttnn_jit.foreign.torch_private import dispatch_modes

    names = [f"a{i}" for i in range(count)]
    plain = [f"type({name}) is Plain" for name in names]
    wants_grad = " or ".join(f"{name}.requires_grad" for name in names)
    lines = [
        f"def find({', '.join(names)}):",
        " try:",
        f"  if not ({' and '.join([*plain, *(f'{name}.is_cpu' for name in names)])}): return MISS",
        f"  if {' or '.join(f'{name}.is_neg()' for name in names)}: return MISS",
        f"  if grad_enabled() and ({wants_grad}): return MISS",
        "  if dispatch_modes() or autocast(): return MISS",
        f"  warm = table[{', '.join(f'{name}.shape, {name}.stride(), {name}.dtype' for name in names)}]",
        " except (KeyError, AttributeError, RuntimeError):",  # a sparse tensor has no strides
        "  return MISS",
        f" return warm({', '.join(names)})",
    ]
    scope = {"Plain": torch.Tensor, "MISS": MISS, "grad_enabled": torch.is_grad_enabled, "table": table}
    scope |= {"dispatch_modes": dispatch_modes(), "autocast": autocast_query()}
    return define("find", lines, scope)
