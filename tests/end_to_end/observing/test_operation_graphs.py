"""Graphs of executed operations: producers of tensors (`ttnn.tracer`), events in order (`ttnn.graph`)."""

from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.ttnn.observing.graph_nodes import Node, folded

jitted = ttnn_jit.jit()(programs.cosh)


def tensor(device, **keywords):
    return ttnn.from_torch(torch.randn(32, 64), layout=ttnn.TILE_LAYOUT, device=device, **keywords)


def names(graph):
    return [node.name for node in graph]


def test_a_graph_leads_from_torchs_tensors_to_the_result(device):
    weight = tensor(device)
    with ttnn.tracer.trace():
        assert ttnn.tracer.is_tracing_enabled()
        x = torch.rand((32, 64))
        y = ttnn.from_torch(torch.exp(x), layout=ttnn.TILE_LAYOUT, device=device)
        unused = ttnn.sin(y)
        z = jitted(y * weight)
        result = ttnn.to_torch(ttnn.split(z, 32, -1)[1])
    assert not ttnn.tracer.is_tracing_enabled()
    graph = ttnn.tracer.get_graph(result)
    assert names(graph) == [
        "torch.rand",
        "torch.exp",
        "ttnn.from_torch",
        "ttnn.Tensor",
        "ttnn.multiply",
        "tests.programs.cosh",
        "ttnn.split",
        "ttnn.to_torch",
    ]
    assert [node.inputs for node in graph][3:] == [(), ((2, 0), (3, 0)), ((4, 0),), ((5, 0),), ((6, 1),)]
    assert graph.nodes[4].outputs == ("32x64 FLOAT32",)
    assert "ttnn.sin" in names(ttnn.tracer.get_graph([{"a": result}, unused]))


def test_the_producer_of_a_written_tensor_is_the_last_writer(device):
    with ttnn.tracer.trace():
        x, y = tensor(device), tensor(device)
        ttnn.add_(x, y)
        z = ttnn.exp(x)
    assert names(ttnn.tracer.get_graph(z))[-2:] == ["ttnn.add_", "ttnn.exp"]
    assert len(ttnn.tracer.get_graph(x)) == len(ttnn.tracer.get_graph(z)) - 1


def test_numpy_arrays_and_calls_without_tensors_of_torch_are_in_the_graph():
    with ttnn.tracer.trace() as graph:
        y = jitted(np.ones((4, 4), np.float32))
    assert names(graph) == ["numpy.ndarray", "tests.programs.cosh"]
    assert len(ttnn.tracer.get_graph(y)) == 2


@pytest.mark.parametrize("suffix", ["svg", "json", "dot"])
def test_a_graph_is_written_as_a_picture_as_json_and_for_graphviz(device, tmp_path, suffix):
    with ttnn.tracer.trace():
        x = tensor(device)
        y = ttnn.add(ttnn.pow(x, 2.0), ttnn.clamp(x, min=0.0, max=1.0))
    path = tmp_path / f"graph.{suffix}"
    graph = ttnn.tracer.visualize(y, file_name=path)
    text = path.read_text(encoding="utf-8")
    if suffix == "json":
        assert json.loads(text) == graph.to_json()
        assert graph.to_json()[3]["arguments"] == ["min=0.0", "max=1.0"]
    elif suffix == "dot":
        assert text.count("->") == sum(len(node.inputs) for node in graph) == 5
    else:
        root = ET.fromstring(text)
        kinds = [element.tag.rpartition("}")[2] for element in root]
        assert (kinds.count("rect"), kinds.count("polyline")) == (len(graph), 5)
        assert graph._repr_svg_() == text
        boxes = [tuple(float(e.get(k)) for k in ("x", "y", "width", "height")) for e in root if "rect" in e.tag]
        assert all(a + w <= c or c + v <= a or b + h <= d or d + g <= b
                   for i, (a, b, w, h) in enumerate(boxes) for c, d, v, g in boxes[:i])  # fmt: skip


def test_no_line_of_a_picture_runs_through_a_box(device):
    """A line to a box many rows below passes between the boxes; weights are above their users."""
    with ttnn.tracer.trace() as graph:
        x = y = tensor(device)
        for _ in range(3):
            y = ttnn.add(ttnn.multiply(ttnn.exp(ttnn.add(y, tensor(device))), x), y)
    boxes, lines = drawn(graph)
    assert len(lines) == len({(source, node.number) for node in graph for source, _ in node.inputs})
    assert_no_line_runs_through_a_box(boxes, lines)
    assert len({top for _, top, _, _ in boxes}) == 14  # of twelve operations, and two where they begin


def drawn(graph):
    """The boxes of a picture, and the points of its lines."""
    root = ET.fromstring(graph.to_svg())
    boxes = [tuple(float(e.get(k)) for k in ("x", "y", "width", "height")) for e in root if e.tag.endswith("rect")]
    lines = [e.get("points").split() for e in root if e.tag.endswith("polyline")]
    return boxes, [[tuple(map(float, point.split(","))) for point in line] for line in lines]


def assert_no_line_runs_through_a_box(boxes, lines):
    for points in lines:
        for (x1, y1), (x2, y2) in itertools.pairwise(points):
            for share in (n / 50 for n in range(51)):
                across, down = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
                assert not any(a < across < a + w and b < down < b + h for a, b, w, h in boxes)


def layers(device, count):
    """A model of equal layers, each with its own weights, one tensor that all read, and a residual."""
    with ttnn.tracer.trace() as graph:
        mask = tensor(device)
        y = ttnn.exp(tensor(device))
        for _ in range(count):
            inside = ttnn.add(ttnn.multiply(y, tensor(device)), mask)
            y = ttnn.add(ttnn.relu(ttnn.multiply(inside, tensor(device))), y)
        ttnn.neg(y)
    return graph


@pytest.mark.parametrize("count", [8, 30])
def test_layers_that_repeat_are_drawn_once_however_many_they_are(device, count):
    graph = layers(device, count)
    once = folded(list(graph))
    assert [node.remark for node in once if node.remark] == [f"{count} times from here", f"to here, {count} times"]
    assert [node.number for node in once] == list(range(len(once)))
    assert len(once) == len(graph) - 9 * (count - 1)
    assert all(source < node.number for node in once for source, _ in node.inputs)
    assert len(drawn(graph)[0]) == len(once)
    assert len(graph.to_json()) == len(graph)  # the whole graph has every one


def test_parts_that_do_not_repeat_are_drawn_in_columns_no_taller_than_a_screen(device):
    with ttnn.tracer.trace() as graph:
        x = y = tensor(device)
        for index in range(100):
            y = ttnn.add(y, float(index)) if index % 7 else ttnn.multiply(y, x)
    boxes, lines = drawn(graph)
    assert len(boxes) == len(graph) == 102
    assert max(top + height for _, top, _, height in boxes) < 1450
    assert_no_line_runs_through_a_box(boxes, lines)
    assert all(points[-1][1] < 1450 for points in lines)


@given(data=st.data())
def test_a_folded_graph_has_all_kinds_of_nodes_and_every_operand_of_the_whole(data):
    block = data.draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), min_size=3, max_size=8))
    names = [("first", 1)] * data.draw(st.integers(1, 3)) + block * data.draw(st.integers(1, 6)) + [("last", 1)]
    nodes = [
        Node(at, name, ((max(0, at - back), 0),) if at else (), ("1x1 FLOAT32",))
        for at, (name, back) in enumerate(names)
    ]
    once = folded(nodes)
    assert {node.name for node in once} == {node.name for node in nodes}
    assert [node.number for node in once] == list(range(len(once)))
    assert all(source < node.number for node in once for source, _ in node.inputs)
    assert folded(once) == once


def test_a_tensor_that_no_traced_operation_computed_is_refused(device, tmp_path):
    outside = tensor(device)
    with ttnn.tracer.trace():
        inside = ttnn.exp(tensor(device))
    with pytest.raises(ArgumentError, match="no operation that was traced"):
        ttnn.tracer.visualize(outside)
    with pytest.raises(ArgumentError, match="no tensor among these"):
        ttnn.tracer.visualize([1, {}])
    with pytest.raises(ArgumentError, match=r"ends with \.svg, \.json, \.dot, got 'x\.png'"):
        ttnn.tracer.visualize(inside, file_name=tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("graph_capture", [False, True])
def test_no_graph_is_traced_inside_of_a_function_that_is_being_compiled(device, graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def traced(x):
        with ttnn.tracer.trace():
            return ttnn.exp(x)

    with pytest.raises(CompileError) as refused:
        traced(tensor(device))
    assert refused.value.help == "enter the context around the call of the jitted function"
    assert refused.value.location.file == __file__


def test_a_graph_keeps_no_tensor(device):
    with ttnn.tracer.trace() as graph:
        address = tensor(device).buffer_address()
        again = tensor(device)
    assert again.buffer_address() == address
    assert names(graph.of(again))[-1] == "ttnn.from_torch"


# --- ttnn.graph -------------------------------------------------------------------------------------------------------


def captured(run):
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    try:
        run()
    finally:
        nodes = ttnn.graph.end_graph_capture()
    assert json.loads(json.dumps(nodes)) == nodes
    assert [node["counter"] for node in nodes] == list(range(len(nodes)))
    assert all(0 <= number < len(nodes) for node in nodes for number in node["connections"])
    assert (nodes[0]["node_type"], nodes[-1]["node_type"]) == ("capture_start", "capture_end")
    return nodes


def test_nodes_name_the_operations_with_their_operands_and_results(device):
    x, y = tensor(device), tensor(device)
    nodes = captured(lambda: ttnn.softmax(ttnn.add(x, y), -1))
    assert ttnn.graph.extract_calltrace(nodes) == ["ttnn.add", "ttnn.softmax"]
    add, softmax = (node for node in nodes if node["node_type"] == "function_start")
    assert add["params"] == {"name": "ttnn.add", "inputs": "2"}
    assert softmax["arguments"][1:] == ["-1"]
    givers = [
        node["params"] for node in nodes if add["counter"] in node["connections"] and node["node_type"] == "tensor"
    ]
    assert [(each["tensor_id"], each["shape"]) for each in givers] == [
        ("0", "Shape([32, 64])"),
        ("1", "Shape([32, 64])"),
    ]
    kinds = [nodes[number]["node_type"] for number in add["connections"]]
    assert kinds == ["buffer_allocate", "tensor", "function_end"]
    (output,) = ttnn.graph.extract_output_info(nodes)
    assert (output["shape"], output["dtype"]) == ("Shape([32, 64])", "DataType.FLOAT32")
    assert ttnn.graph.pretty_print(nodes).splitlines()[1].startswith("ttnn.softmax(Tensor(shape=Shape([32, 64])")


def test_the_peak_of_l1_is_counted(device):
    x, size = tensor(device), 32 * 64 * 4

    def run():
        kept = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
        freed = ttnn.exp(kept)
        ttnn.deallocate(freed)
        ttnn.neg(ttnn.neg(kept))

    nodes = captured(run)
    assert ttnn.graph.extract_peak_L1_memory_usage(nodes) == 3 * size
    assert sum(node["node_type"] == "buffer_deallocate" for node in nodes) == 4


def test_a_call_that_fails_is_an_error_node(device):
    x = tensor(device)

    def run():
        with pytest.raises(CompileError):
            ttnn.matmul(x, x)
        ttnn.exp(x)

    nodes = captured(run)
    (failed,) = (node for node in nodes if node["node_type"] == "error")
    assert (failed["params"]["name"], failed["params"]["error_type"]) == ("ttnn.matmul", "OperandShapeError")
    assert ttnn.graph.extract_calltrace(nodes) == ["ttnn.matmul", "ttnn.exp"]


def test_captures_nest_and_end_once(device):
    x = tensor(device)
    inner = []

    def run():
        ttnn.exp(x)
        inner.extend(captured(lambda: ttnn.neg(x)))

    assert ttnn.graph.extract_calltrace(captured(run)) == ["ttnn.exp", "ttnn.neg"]
    assert ttnn.graph.extract_calltrace(inner) == ["ttnn.neg"]
    with pytest.raises(ArgumentError, match="no graph is captured"):
        ttnn.graph.end_graph_capture()


def test_without_dispatch_nothing_runs_and_shapes_and_memory_are_reported(device):
    x = tensor(device, memory_config=ttnn.L1_MEMORY_CONFIG)
    y, before = tensor(device), ttnn.to_torch(x)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    ttnn.add_(x, y)
    product = ttnn.matmul(ttnn.permute(x, (1, 0)), y, memory_config=ttnn.L1_MEMORY_CONFIG)
    z = jitted(ttnn.typecast(product, ttnn.bfloat16, ttnn.DRAM_MEMORY_CONFIG))
    assert ttnn.to_torch(z).shape == (64, 64)
    with pytest.raises(RuntimeError, match="captures already"):
        ttnn.begin_trace_capture(device)
    with pytest.raises(RuntimeError, match="captures already"):
        ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    nodes = ttnn.graph.end_graph_capture()
    assert torch.equal(ttnn.to_torch(x), before)
    assert ttnn.graph.extract_calltrace(nodes)[-3:] == ["ttnn.typecast", "tests.programs.cosh", "ttnn.to_torch"]
    assert ttnn.graph.extract_peak_L1_memory_usage(nodes) == 64 * 32 * 4 + 64 * 64 * 4
    ttnn.add_(x, y)
    assert not torch.equal(ttnn.to_torch(x), before)


def test_without_dispatch_circular_buffers_count_in_l1_while_their_program_runs(device):
    """Also for tensors in DRAM, whose tiles pass through L1. The buffers are those of the program's descriptor."""
    x = ttnn.from_torch(torch.ones(64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    function = ttnn_jit.jit(lambda x: ttnn.exp(x))
    program = ttnn_jit.jit(lambda x: ttnn.exp(x), compile_only=True)(x)
    streamed = [each for descriptor in program.descriptors for each in descriptor["cbs"] if each["access"] == "stream"]
    of_core = sum(each["num_pages"] * each["page_size"] for each in streamed)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    held = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
    function(x)
    graph = ttnn.graph.end_graph_capture()
    assert of_core > 0
    assert ttnn.graph.extract_circular_buffers_peak_size_per_core(graph) == of_core
    assert ttnn.graph.extract_peak_L1_memory_usage(graph) == held.spec.nbytes + of_core


def test_numbers_of_freed_tensors_are_not_reused(device):
    x = tensor(device)
    ttnn.graph.begin_graph_capture()
    result = ttnn.neg(ttnn.exp(ttnn.neg(x)))
    result = ttnn.exp(ttnn.neg(result))
    graph = ttnn.graph.end_graph_capture()
    numbers = [node["params"]["tensor_id"] for node in graph if node["node_type"] == "tensor"]
    assert len(numbers) == len(set(numbers)) == 6
    (given,) = ttnn.graph.extract_output_info(graph)
    assert given["tensor_id"] == "5"
    assert given["shape"] == str(result.shape)


@pytest.mark.parametrize("mode", list(ttnn.graph.RunMode))
def test_memory_of_calls_names_the_largest_live_tensors_at_the_end_of_each(device, mode):
    x = tensor(device)
    ttnn.graph.begin_graph_capture(mode)
    wide = ttnn.concat([x, x, x], dim=-1)
    small = ttnn.exp(x, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.deallocate(wide)
    again = ttnn.add(small, small)
    with pytest.raises(CompileError, match="shapes"):
        ttnn.matmul(small, ttnn.zeros((7, 7), device=device))
    calls = ttnn.graph.extract_memory_of_calls(ttnn.graph.end_graph_capture(), largest=1)
    nbytes = x.spec.nbytes
    found = [(call.name, call.l1_bytes, call.dram_bytes, call.largest[0].made_by) for call in calls[:2]]
    assert found == [
        ("ttnn.concat", 0, 3 * nbytes, "ttnn.concat"),
        ("ttnn.exp", nbytes, 3 * nbytes, "ttnn.concat"),
    ]
    assert (calls[2].name, calls[2].l1_bytes, calls[2].dram_bytes) == ("ttnn.deallocate", nbytes, 0)
    (added,) = (call for call in calls if call.name == "ttnn.add")
    assert (added.l1_bytes, added.dram_bytes, len(added.largest)) == (2 * nbytes, 0, 1)
    assert (added.circular_buffer_bytes > 0) == (mode is ttnn.graph.RunMode.NO_DISPATCH)
    assert (calls[0].largest[0].memory, calls[0].largest[0].shape) == ("DRAM", str(wide.shape))
    ttnn.deallocate(again)
