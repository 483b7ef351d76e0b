"""Shardings over several meshes, permuted devices and parts of axes compute what one device computes."""

import itertools
import math

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.texts.test_partitioned_graphs import Graph, after, results_of
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.ops.conversions.shardings import tiling_of_axes
from ttnn_jit.transforms.shardings.mesh_refinement import Part, Refinement, mesh_of_sizes

DEVICES = 8
SIZES = [(8,), (2, 4), (4, 2), (2, 2, 2), (1, 8)]


@st.composite
def meshes(draw):
    """One to three meshes of eight devices, the later ones in orders that are transposed axes of the first."""
    found = {}
    for name, letters in zip(
        ["mesh", "other", "third"][: draw(st.integers(1, 3))], ["xyz", "abc", "uvw"], strict=False
    ):
        sizes = draw(st.sampled_from(SIZES))
        order = draw(st.permutations(range(3))) if draw(st.booleans()) else [0, 1, 2]
        devices = np.arange(DEVICES).reshape(2, 2, 2).transpose(order).ravel().tolist()
        found[name] = mesh_of_sizes(dict(zip(letters, sizes, strict=False)), devices)
    return found


def parts_of(mesh, name):
    """Every part of every axis of a mesh."""
    for axis, size in mesh.sizes.items():
        for pre, own in itertools.product([1, 2, 4], [2, 4, 8]):
            if size % (pre * own) == 0:
                yield Part(name, axis, pre, own)


def spelled(part, mesh):
    return f'"{part.axis}"' + ("" if part.size == mesh.sizes[part.axis] else f":({part.pre}){part.size}")


@given(meshes(), st.data())
def test_the_axes_of_a_part_cut_tensors_as_the_part_does(found, data):
    named = {part for name, mesh in found.items() for part in parts_of(mesh, name) if data.draw(st.booleans())}
    refinement = Refinement(found, named)
    first = next(iter(found.values()))
    axes = [{"name": name, "size": size} for name, size in refinement.sizes.items()]
    assert math.prod(refinement.sizes.values()) == DEVICES
    for part in named:
        mesh = found[part.mesh]
        stated = {"name": part.axis, "sub_axis_info": {"pre_size": part.pre, "size": part.size}}
        old = [{"name": name, "size": size} for name, size in mesh.sizes.items()]
        wanted = tiling_of_axes([[stated]], old, devices=mesh.devices)
        own = tiling_of_axes([[{"name": name} for name in refinement.axes(part)]], axes)
        assert own.counts == wanted.counts
        assert [wanted.places[device] for device in first.devices] == [*own.places]


class GraphOfMeshes(Graph):
    """A function whose shardings name parts of axes of several meshes, and may cut unevenly."""

    def __init__(self, draw, found):
        super().__init__(draw, (2, 4))
        self.found = found

    def meshes(self):
        lines = []
        for name, mesh in self.found.items():
            axes = ", ".join(f'"{axis}"={size}' for axis, size in mesh.sizes.items())
            order = "" if mesh.is_in_order else f", device_ids={[*mesh.devices]}"
            lines.append(f"sdy.mesh @{name} = <[{axes}]{order}>")
        return "\n".join(lines)

    def sharding(self, shape):
        name = self.one_of([*self.found])
        mesh = self.found[name]
        left = [part for part in parts_of(mesh, name) if self.draw(st.booleans())]
        used, found = set(), []
        for extent in shape:
            own, count = [], 1
            while left:
                part = left.pop()
                digits = {(part.axis, each) for each in (1, 2, 4) if part.pre <= each < part.pre * part.size}
                fits = extent % (count * part.size) == 0 or self.draw(st.integers(0, 9)) == 0
                if used & digits or not fits:
                    continue
                used |= digits
                count *= part.size
                own.append(spelled(part, mesh))
                if self.draw(st.booleans()):
                    break
            found.append("{" + ", ".join(own + ["?"] * self.draw(st.booleans())) + "}")
        return f"<@{name}, [{', '.join(found)}]>"


def in_ttir(text):
    """The text in TTIR; none if its shards lie along no axes in their order, or its groups along none."""
    try:
        return [after(text, "stablehlo-to-ttir-pipeline")]
    except CompileError as error:
        if "as those of TTIR do" not in error.message:
            raise
        return []


@st.composite
def graphs(draw):
    return GraphOfMeshes(draw, draw(meshes())).text(draw(st.integers(1, 6)))


@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(0, 2**31))
def test_a_graph_of_several_meshes_computes_what_one_device_computes(case, seed):
    text, shapes = case
    generator = torch.Generator().manual_seed(seed)
    inputs = [torch.randint(-3, 4, tuple(shape), generator=generator).float() for shape in shapes]
    wanted = results_of(text, inputs, (1,))
    forms = [after(text, "stablehlo-pipeline")]
    assert forms[0].count("sdy.mesh @") <= 1 or "sdy.manual_computation" not in forms[0]
    (module,) = parse_texts(forms[0], "text.mlir")
    for form in forms + in_ttir(forms[0]):
        for own, other in zip(results_of(form, inputs, mesh_of_text(module)), wanted, strict=True):
            assert torch.equal(own, other), form
