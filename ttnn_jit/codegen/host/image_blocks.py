"""Padded copies of several images whose windows a product alone reads: made and multiplied image by image.

The copy of all images would go to memory, and come back from there. One image's stays in the last cache between the
launches that copy it and the one that multiplies it; the number around it is written once. Bits are those of the whole:
an element of a product depends on its row and its column alone.

Bound: that of the product; a launch more for each image, and for each its copy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ttnn_jit.codegen.bound_kernel import Operand
from ttnn_jit.codegen.host.copy_folding import only_moves
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan, Readers
from ttnn_jit.codegen.host.row_blocks import changed, of_rows, rows_of
from ttnn_jit.codegen.kernel import Contract
from ttnn_jit.codegen.launch import View
from ttnn_jit.codegen.plan_value import PlanValue
from ttnn_jit.runtime.host_costs import last_cache_bytes
from ttnn_jit.specs.access import Access
from ttnn_jit.specs.index_expressions import Const, Dim, Expr, FloorDiv, substitute
from ttnn_jit.specs.strided_walk import NotStridedError
from ttnn_jit.specs.tensor_spec import TensorSpec

SHARE = 3
"""Of the last cache: images, what they are copied from, and what is made of them (benchmarks/convolution.py)."""

MOST_IMAGES = 64
"""Of a copy: a compile of each costs some hundred microseconds."""


def block_images(plan: HostPlan) -> HostPlan:
    """The launches with those that pad several images for a product run for one image after the other."""
    if plan.isa is None:
        return plan
    launches: list[HostLaunch] = []
    readers = plan.readers
    for launch in plan.launches:
        padding = _padding(launches, launch, readers)
        blocks = _blocks(padding, launch) if padding else None
        if blocks is None:
            launches.append(launch)
        else:
            launches[-len(padding) :] = blocks
    return replace(plan, launches=tuple(launches))


def _padding(before: Sequence[HostLaunch], product: HostLaunch, readers: Readers) -> list[HostLaunch]:
    """The last launches, which write images that a product has as its left operand, and nothing else reads; or none."""
    if not isinstance(product.bound.kernel, Contract):
        return []
    padded = product.bound.inputs[product.bound.product.factors[0]]
    is_alone = len(readers(padded.value)) == [each.value for each in product.bound.inputs].count(padded.value) == 1
    if not (is_alone and _is_far(padded.view.spec) and _reads_images_in_turn(product, padded)):
        return []
    reverse = itertools.takewhile(lambda launch: _writes(launch, padded.value), reversed(before))
    found = list(reverse)[::-1]
    are_numbers = [not launch.bound.inputs for launch in found]
    # What copies write over stays so for all images.
    return found if all(map(_is_of_images, found)) and are_numbers == sorted(are_numbers, reverse=True) else []


def _writes(launch: HostLaunch, value: PlanValue) -> bool:
    return [each.value for each in launch.bound.outputs] == [value]


def _reads_images_in_turn(product: HostLaunch, padded: Operand) -> bool:
    """Whether the first rows of a product are of the first image, as many of the second one, and so on."""
    access, count, rows = padded.view.access, _images(padded.view.spec), _rows(product)
    if access is None or len(access.extents) < 2:
        return False
    return rows % count == 0 and access.coordinates[0] == FloorDiv(Dim(len(access.extents) - 2), rows // count)


def _is_far(padded: TensorSpec) -> bool:
    """Whether several images, with what they are read from and what is made of them, leave the last cache."""
    return 1 < _images(padded) <= MOST_IMAGES and SHARE * padded.nbytes > last_cache_bytes()


def _is_of_images(launch: HostLaunch) -> bool:
    """Whether a launch does the same to every image: copies it, or writes one number."""
    (operand,) = launch.bound.outputs
    access = operand.view.access
    is_alike = access is not None and access.coordinates[0] == Dim(0)
    return is_alike and operand.view.shape[0] == operand.view.spec.shape[0] and _moves(launch)


def _moves(launch: HostLaunch) -> bool:
    return not launch.bound.inputs or only_moves(launch.bound)


def _images(padded: TensorSpec) -> int:
    count, *_ = padded.shape
    return count


def _rows(product: HostLaunch) -> int:
    *_, rows, _ = (1, *product.bound.outputs[0].view.shape)
    return rows


def _blocks(padding: Sequence[HostLaunch], product: HostLaunch) -> list[HostLaunch] | None:
    try:
        return list(_by_image(padding, product))
    except NotStridedError:
        return None  # an image's rows are in no loops of the result's own, as rows of parts of tiles are


def _by_image(padding: Sequence[HostLaunch], product: HostLaunch) -> Iterator[HostLaunch]:
    """Launch after launch.

    Raises:
        NotStridedError: No loops walk an image.
    """
    padded = product.bound.inputs[product.bound.product.factors[0]]
    (count, *extents), rows = padded.view.spec.shape, _rows(product)
    spec = TensorSpec((1, *extents), padded.view.spec.dtype)
    value = PlanValue(spec)
    yield from (_of_image(each, 0, value, spec) for each in padding if not each.bound.inputs)
    for number in range(count):
        yield from (_of_image(each, number, value, spec) for each in padding if each.bound.inputs)
        part = range(number * rows // count, (number + 1) * rows // count)
        access = rows_of(padded, rows, part).view.access
        assert access is not None, "it reads windows"
        windows = Access(access.extents, (Const(0), *access.coordinates[1:]))
        yield of_rows(product, Operand(value, View(spec, windows)), rows, part)


def _of_image(launch: HostLaunch, number: int, value: PlanValue, spec: TensorSpec) -> HostLaunch:
    """What a launch does to one image, to the only one in `value`."""
    inputs = tuple(_image_of(each, number, each.value, each.view.spec) for each in launch.bound.inputs)
    return changed(launch, inputs, (_image_of(launch.bound.outputs[0], 0, value, spec),))


def _image_of(operand: Operand, number: int, value: PlanValue, spec: TensorSpec) -> Operand:
    access = operand.view.access or Access.identity(operand.view.shape)
    indices: list[Expr] = [Const(number), *(Dim(k) for k in range(1, len(access.extents)))]
    coordinates = tuple(substitute(each, indices) for each in access.coordinates)
    return Operand(value, View(spec, Access((1, *access.extents[1:]), coordinates)))
