"""The module `ttnn.graph`: captures operations as a list of nodes, in the format of ttnn's graph capture."""

from __future__ import annotations

import enum
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, TraceError
from ttnn_jit.dispatch.call_events import name_of
from ttnn_jit.dispatch.observers import Observer, start, stop
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device, open_devices
from ttnn_jit.runtime.native.recorder import DryRunRecorder
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import BufferType
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import host_function_names, submodule_getattr
from ttnn_jit.ttnn.observing.operation_graph import text_of_argument, ttnn_tensors_in

__all__ = ["RunMode", *host_function_names("graph")]  # noqa: PLE0604 - the names are the declarations'

JsonNode = dict[str, Any]


class RunMode(enum.Enum):
    """Whether captured operations run (NORMAL), or only allocate their results (NO_DISPATCH)."""

    NORMAL = 0
    NO_DISPATCH = 1


class _Capture(Observer):
    """Nodes in the order of events; freeing a buffer is an event too."""

    def __init__(self) -> None:
        self.nodes: list[JsonNode] = []
        self._open: list[JsonNode] = []
        self._idle: list[Device] = []
        self._tensors: dict[int, tuple[weakref.ref[Any], JsonNode]] = {}
        self._tensor_ids = count()
        self._node("capture_start", {})

    def disable_dispatch(self) -> None:
        """Let open devices allocate results without running kernels."""
        devices = open_devices()
        if busy := [device for device in devices if device.recorder is not None]:
            raise TraceError(f"begin_graph_capture: {busy[0]} captures already", help="end that first")
        self._idle = devices
        for device in devices:
            device.record(DryRunRecorder(self._note_circular_buffers))

    def enable_dispatch(self) -> None:
        """Let devices run kernels again."""
        for device in self._idle:
            if isinstance(device.recorder, DryRunRecorder):
                device.record(None)

    def _note_circular_buffers(self, nbytes: int) -> None:
        if nbytes and self._open:
            allocated = self._node("circular_buffer_allocate", {"size": str(nbytes), "globally_allocated": "0"})
            freed = self._node("circular_buffer_deallocate_all", {})
            self._open[-1]["connections"] += [allocated["counter"], freed["counter"]]

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        tensors = _device_tensors([*args, *kwargs.values()])
        given = [self._tensor(tensor) for tensor in tensors]
        begun = self._node("function_start", {"name": name_of(operation), "inputs": str(len(given))})
        begun["arguments"] = [
            *map(text_of_argument, args),
            *(f"{name}={text_of_argument(value)}" for name, value in kwargs.items()),
        ]
        for tensor in given:
            tensor["connections"].append(begun["counter"])
        self._open.append(begun)

    def after(self, operation: Any, args: Sequence[Any], _: Mapping[str, Any], result: Any) -> None:
        begun = self._open.pop()
        given = {id(tensor) for tensor in _device_tensors(args)}
        made = [self._add_result(tensor, begun) for tensor in _device_tensors([result]) if id(tensor) not in given]
        for tensor in _device_tensors(args):
            if not tensor.is_allocated():
                self._add_deallocation(id(tensor))
        ended = self._node("function_end", {"name": name_of(operation)})
        begun["connections"].append(ended["counter"])
        ended["connections"] += [tensor["counter"] for tensor in made]

    def failed(self, operation: Any, error: BaseException) -> None:
        begun = self._open.pop()
        node = self._node("error", {"name": name_of(operation), "error_type": type(error).__name__, "what": str(error)})
        begun["connections"].append(node["counter"])

    def end(self) -> list[JsonNode]:
        """All nodes; the first one is connected to every node without another predecessor."""
        reached = {number for node in self.nodes for number in node["connections"]}
        last = self._node("capture_end", {})
        self.nodes[0]["connections"] = [
            node["counter"] for node in self.nodes[1:-1] if node["counter"] not in reached
        ] + [last["counter"]]
        return self.nodes

    def _node(self, kind: str, params: Mapping[str, Any]) -> JsonNode:
        node: JsonNode = {"counter": len(self.nodes), "node_type": kind, "params": dict(params), "connections": []}
        node["stacking_level"] = len(self._open)
        self.nodes.append(node)
        return node

    def _tensor(self, tensor: Tensor) -> JsonNode:
        """The node of a tensor, added if there is none yet."""
        reference, node = self._tensors.get(id(tensor), (None, None))
        if reference is None or node is None or reference() is not tensor:
            spec = tensor.spec
            node = self._node(
                "tensor",
                {
                    "tensor_id": str(next(self._tensor_ids)),
                    "shape": str(spec.shape),
                    "dtype": str(spec.dtype),
                    "layout": str(spec.layout),
                    "memory_config": str(spec.memory_config),
                },
            )
            number = id(tensor)
            self._tensors[number] = weakref.ref(tensor, lambda _: self._add_deallocation(number)), node
        return node

    def _add_result(self, tensor: Tensor, begun: JsonNode) -> JsonNode:
        node = self._tensor(tensor)
        allocated = self._node("buffer_allocate", _buffer(tensor))
        buffer = self._node("buffer", {key: allocated["params"][key] for key in ("layout", "size", "type")})
        begun["connections"] += [allocated["counter"], node["counter"]]
        allocated["connections"].append(buffer["counter"])
        buffer["connections"].append(node["counter"])
        node["buffer"] = allocated["counter"]
        return node

    def _add_deallocation(self, number: int) -> None:
        """Add a node for the buffer of a tensor that was collected or deallocated."""
        _, node = self._tensors.pop(number, (None, None))
        if self in _CAPTURES and node is not None and (allocated := node.pop("buffer", None)) is not None:
            freed = self._node("buffer_deallocate", self.nodes[allocated]["params"])
            freed["connections"].append(allocated + 1)


_CAPTURES: list[_Capture] = []


def _device_tensors(values: Any) -> list[Tensor]:
    return [tensor for tensor in ttnn_tensors_in(values) if tensor.device() is not None]


def _buffer(tensor: Tensor) -> dict[str, str]:
    config = tensor.memory_config()
    kind = "L1" if config.buffer_type is BufferType.L1 else config.buffer_type.name
    address = tensor.buffer_address() if tensor.is_allocated() else 0
    return {
        "address": str(address),
        "layout": config.memory_layout.name,
        "size": str(tensor.spec.nbytes),
        "type": kind,
    }


@host_function(name="graph.begin_graph_capture", observed=False)
def begin_graph_capture(run_mode: RunMode = RunMode.NORMAL) -> None:
    """Record operations until `end_graph_capture`, which ends the capture that began last.

    With ``RunMode.NO_DISPATCH`` no kernel runs on the devices that are open now: results are allocated with
    unspecified elements.

    Raises:
        ArgumentError: `run_mode` is not a `RunMode`.
        TraceError: With NO_DISPATCH: a device captures a trace, or another capture with NO_DISPATCH is active on it.
    """
    capture = _Capture()
    if run_mode is RunMode.NO_DISPATCH:
        capture.disable_dispatch()
    _CAPTURES.append(capture)
    start(capture)


@host_function(name="graph.end_graph_capture", observed=False)
def end_graph_capture() -> list[JsonNode]:
    """The nodes since `begin_graph_capture`, as JSON values (ttnn.graph.end_graph_capture).

    Each has a ``counter``, its index in the list; a ``node_type``: capture_start, function_start, function_end, tensor,
    buffer, buffer_allocate, buffer_deallocate, circular_buffer_allocate, circular_buffer_deallocate_all, error or
    capture_end; ``params``, texts; and ``connections``, counters.

    Raises:
        ArgumentError: No capture is active.
    """
    if not _CAPTURES:
        raise ArgumentError("no graph is captured", help="call `ttnn.graph.begin_graph_capture()` first")
    capture = _CAPTURES.pop()
    stop(capture)
    capture.enable_dispatch()
    nodes = capture.end()
    for node in nodes:
        node.pop("buffer", None)
    return nodes


@host_function(name="graph.extract_calltrace", observed=False)
def extract_calltrace(captured_graph: Sequence[JsonNode]) -> list[str]:
    """The names of the operations, in call order."""
    return [node["params"]["name"] for node in captured_graph if node["node_type"] == "function_start"]


@host_function(name="graph.extract_peak_L1_memory_usage", observed=False)
def extract_peak_L1_memory_usage(captured_graph: Sequence[JsonNode]) -> int:  # noqa: N802 - ttnn's name
    """Peak L1 usage in bytes, as ttnn computes it: tensors on all cores plus circular buffers on one core.

    Circular buffers are counted only in captures with ``RunMode.NO_DISPATCH``.
    """
    now = peak = 0
    for node in captured_graph:
        if node["node_type"] == "circular_buffer_allocate":
            peak = max(peak, now + int(node["params"]["size"]))
        if node["params"].get("type") != "L1" or node["node_type"] == "buffer":
            continue
        now += int(node["params"]["size"]) * (1 if node["node_type"] == "buffer_allocate" else -1)
        peak = max(peak, now)
    return peak


@host_function(name="graph.extract_circular_buffers_peak_size_per_core", observed=False)
def extract_circular_buffers_peak_size_per_core(captured_graph: Sequence[JsonNode]) -> int:
    """Peak bytes of one program's circular buffers on a core; 0 unless captured with ``RunMode.NO_DISPATCH``."""
    allocated = (node for node in captured_graph if node["node_type"] == "circular_buffer_allocate")
    return max((int(node["params"]["size"]) for node in allocated), default=0)


@dataclass(frozen=True)
class LiveTensor:
    """A live tensor that a captured call made: size, kind of memory, metadata, and the call's name."""

    nbytes: int
    memory: str
    shape: str
    dtype: str
    made_by: str


@dataclass(frozen=True)
class CallMemory:
    """The memory that tensors made since the beginning of a capture occupy at the end of a call.

    Attributes:
        name: Name of the operation.
        l1_bytes: Bytes of tensors in L1, summed over all cores.
        dram_bytes: Bytes of tensors in DRAM.
        circular_buffer_bytes: Peak bytes of circular buffers on a core; 0 unless with ``RunMode.NO_DISPATCH``.
        largest: The largest tensors, in descending order of size.
    """

    name: str
    l1_bytes: int
    dram_bytes: int
    circular_buffer_bytes: int
    largest: tuple[LiveTensor, ...]


@host_function(name="graph.extract_memory_of_calls", observed=False)
def extract_memory_of_calls(captured_graph: Sequence[JsonNode], largest: int = 3) -> list[CallMemory]:
    """The memory use at the end of every call, in order, each with the `largest` tensors at that time.

    Tensors that were allocated before the capture are not counted.
    """
    live: dict[int, LiveTensor] = {}
    running: list[tuple[str, int]] = []
    calls = []
    for node in captured_graph:
        match node["node_type"]:
            case "function_start":
                running.append((node["params"]["name"], 0))
            case "circular_buffer_allocate":
                name, most = running.pop()
                running.append((name, max(most, int(node["params"]["size"]))))
            case "buffer_allocate":
                buffer = node["connections"][0]
                live[buffer] = _live_tensor(captured_graph, node, running[-1][0])
            case "buffer_deallocate":
                live.pop(node["connections"][0])
            case "error":
                running.pop()
            case "function_end":
                name, circular_buffers = running.pop()
                taken = Counter[str]()
                for each in live.values():
                    taken[each.memory] += each.nbytes
                by_size = sorted(live.values(), key=lambda each: each.nbytes, reverse=True)
                calls.append(CallMemory(name, taken["L1"], taken["DRAM"], circular_buffers, tuple(by_size[:largest])))
    return calls


def _live_tensor(captured_graph: Sequence[JsonNode], allocated: JsonNode, maker: str) -> LiveTensor:
    buffer = captured_graph[allocated["connections"][0]]
    tensor = captured_graph[buffer["connections"][0]]["params"]
    params = allocated["params"]
    return LiveTensor(int(params["size"]), params["type"], tensor["shape"], tensor["dtype"], maker)


@host_function(name="graph.extract_output_info", observed=False)
def extract_output_info(captured_graph: Sequence[JsonNode]) -> list[dict[str, str]]:
    """Shape, dtype, layout and memory config of each result of the last operation."""
    ended = [node for node in captured_graph if node["node_type"] == "function_end"]
    return [dict(captured_graph[number]["params"]) for number in (ended[-1]["connections"] if ended else ())]


@host_function(name="graph.pretty_print", observed=False)
def pretty_print(captured_graph: Sequence[JsonNode]) -> str:
    """One line per operation: its name and arguments."""
    begun = [node for node in captured_graph if node["node_type"] == "function_start"]
    return "\n".join(f"{node['params']['name']}({', '.join(node['arguments'])})" for node in begun)


__getattr__ = submodule_getattr("graph", __all__)
