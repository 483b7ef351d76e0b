"""The steps of a `ttnn.to_layout`: each changes one thing of a tensor, in an order that a chip can take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, data_type, data_type_attribute, laid_out
from ttnn_jit.process.dataclass import dataclass

_TILED_ON_DEVICE = {"bf16", "f32", "u32", "u16", "si32"}
_UNTILED_ON_DEVICE = {"bf16", "f32", "u32", "si32"}


@dataclass(frozen=True)
class _State:
    """What is known of a tensor: where it lies, in what layout and type."""

    tiled: bool
    memory: str
    sharding: str
    element: Attribute

    @property
    def on_device(self) -> bool:
        return self.memory != "system_memory"


def decompose_layout(op: Operation, rewriter: Rewriter) -> SSAValue:
    """The result of the steps of `op`."""
    source, result = op.operands[0], op.results[0].type
    assert isinstance(source.type, TensorType)
    assert isinstance(result, TensorType)
    steps = _Steps(source, result, rewriter, op)
    start, end = steps.state, steps.end
    spelled = data_type(start.element)
    tiles = end.tiled and not start.tiled
    tiles_here = (tiles and spelled in _TILED_ON_DEVICE) or (not tiles and data_type(end.element) in _UNTILED_ON_DEVICE)
    if not start.on_device:
        if end.on_device and (tiles_here or start.tiled == end.tiled):
            if tiles or start.tiled:  # a cast on the device needs tiles
                steps.to_device().to_layout().cast().to_memory()
            else:
                steps.cast().to_device().to_layout().to_memory()
        else:
            steps.cast().to_layout().to_device().to_memory()
    elif end.tiled == start.tiled and not start.tiled and start.element != end.element:
        steps.from_device(always=True).cast().to_device().to_memory()
    elif tiles_here or start.tiled == end.tiled:
        if tiles:
            steps.to_layout().cast().to_memory().from_device()
        else:
            steps.cast().to_layout().to_memory().from_device()
    else:
        steps.from_device(always=True).cast().to_layout().to_device().to_memory()
    return steps.value


class _Steps:
    """Writes the steps that are needed."""

    def __init__(self, source: SSAValue, result: TensorType[Attribute], rewriter: Rewriter, at: Operation) -> None:
        self.value = source
        self._result, self._rewriter, self._at = result, rewriter, at
        self.state = _state_of(source.type)
        self.end = _state_of(result)

    def to_device(self) -> _Steps:
        if self.state.on_device or not self.end.on_device:
            return self
        operands = {"input": self.value, "device": self._rewriter.device(self._at)}
        return self._step("ttnn.to_device", operands, memory=self.end.memory, sharding=self.end.sharding)

    def from_device(self, *, always: bool = False) -> _Steps:
        if not self.state.on_device or (self.end.on_device and not always):
            return self
        return self._step("ttnn.from_device", {"input": self.value}, memory="system_memory", sharding="")

    def to_layout(self) -> _Steps:
        if self.state.tiled == self.end.tiled:
            return self
        return self._step("ttnn.to_layout", {"input": self.value}, tiled=self.end.tiled)

    def cast(self) -> _Steps:
        if self.state.element == self.end.element:
            return self
        name = "ttnn.typecast" if self.state.on_device else "ttnn.to_dtype"
        return self._step(name, {"input": self.value}, element=self.end.element)

    def to_memory(self) -> _Steps:
        same = (self.state.memory, self.state.sharding) == (self.end.memory, self.end.sharding)
        if same or not self.end.on_device or not self.state.on_device:
            return self
        return self._step(
            "ttnn.to_memory_config", {"input": self.value}, memory=self.end.memory, sharding=self.end.sharding
        )

    def _step(self, name: str, operands: Mapping[str, SSAValue], **changed: object) -> _Steps:
        self.state = replace(self.state, **changed)  # type: ignore[arg-type]  # its own fields
        type_ = self._type()
        view = LayoutView(type_)
        memory = view.memory_config() if name in {"ttnn.to_device", "ttnn.to_memory_config"} else None
        properties = {
            "memory_config": memory,
            "layout": view.layout() if name == "ttnn.to_layout" else None,
            "dtype": data_type_attribute(self.state.element) if name in {"ttnn.typecast", "ttnn.to_dtype"} else None,
        }
        self.value = self._rewriter.value(name, operands, properties, type_, self._at)
        return self

    def _type(self) -> TensorType[Attribute]:
        """The type of the state; that of the result at the end, and of sharded tensors."""
        if self.state == self.end or self.state.sharding not in {"", "interleaved"}:
            return self._result
        bare = TensorType(self.state.element, self._result.get_shape())
        return laid_out(bare, tiled=self.state.tiled, memory=self.state.memory)


def _state_of(type_: Attribute) -> _State:
    assert isinstance(type_, TensorType)
    view = LayoutView(type_)
    return _State(view.tiled, view.memory, view.sharding, type_.get_element_type())
