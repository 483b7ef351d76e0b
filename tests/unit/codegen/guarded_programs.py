"""Programs whose operands lie between inaccessible pages, run by the text of any host."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np

from tests.guarded import Guarded
from tests.unit.codegen.programs import emulate_kernel, host_isa, logical, objects_of, run_kernel, stored, unrolled
from tests.unit.kernels.emulated import is_foreign
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON
from ttnn_jit.runtime.native.panels import factors_of, with_flag, without_flag


def hosts():
    """Hosts whose text can run here; NEON text runs in the emulator elsewhere."""
    own = host_isa()
    others = [*([AVX2] if own.avx2 else []), *([AVX512] if own.avx512 else []), NEON]
    return [own, *(isa for isa in others if isa != own and not (isa.neon and own.neon))]


def guarded(module, operands, isa, *, start, in_panels=False):
    """The results of arrays that end (or, from the `start`, begin) at inaccessible pages, as the results do.

    What may be in panels is, if `in_panels` says so.
    """
    program = generate(module, isa)
    plan, objects = program.plan, objects_of(program, isa)
    values = [stored(x, spec) for x, spec in zip(operands, plan.inputs, strict=True)]
    for spec in plan.buffers[len(operands) :]:
        dtype = np.dtype(spec.dtype.traits.numpy)
        values.append(np.full(max(spec.nbytes, dtype.itemsize), 77, np.uint8).view(dtype))
    values += [np.array([each.bits], np.uint32) for each in plan.constants]
    layouts = {index: each.layout for index, each in factors_of(plan).items()} if in_panels else {}
    values = [_packed(each, layouts[k]) if k in layouts else each for k, each in enumerate(values)]
    memory, buffers = zip(*(_between_guards(each, start=start) for each in values), strict=True)
    for each in unrolled(plan):
        launch, code = _of_panels(each, layouts), objects[each.kernel]
        if is_foreign(code):
            emulate_kernel(launch, plan, code, buffers, start=start)
        else:
            run_kernel(launch, plan, code, buffers)
    results = [logical(buffers[index], plan.buffers[index]).copy() for index in plan.results]
    del memory
    return results


def _packed(values, layout):
    """The panels of an array, in an array of its type."""
    plain, panels = Guarded(values.nbytes), Guarded(layout.nbytes)
    array_at(plain, values.dtype)[...] = values
    layout.pack(plain, panels)
    return array_at(panels, values.dtype).copy()


def _of_panels(launch, layouts):
    layout = layouts.get(launch.operands[launch.panels[0]]) if launch.panels else None
    return launch if layout is None else replace(launch, params=with_flag(launch, without_flag(launch, layout)))


def _between_guards(values, *, start):
    memory = Guarded(values.nbytes, start=start)
    array = array_at(memory, values.dtype)
    array[...] = values
    return memory, array


def array_at(memory, dtype):
    """All elements of a `Guarded`, which outlives the array."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * memory.nbytes).from_address(memory.address)).view(dtype)
