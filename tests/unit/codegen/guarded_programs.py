"""Programs whose operands lie beside memory that nobody may touch, run by the text of any host."""

from __future__ import annotations

import ctypes

import numpy as np

from tests.guarded import Guarded
from tests.unit.codegen.programs import emulate_kernel, host_isa, logical, objects_of, run_kernel, stored
from tests.unit.kernels.emulated import is_foreign
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON


def hosts():
    """Hosts whose text can run here; that of NEON runs in the emulator elsewhere."""
    own = host_isa()
    others = [*([AVX2] if own.avx2 else []), *([AVX512] if own.avx512 else []), NEON]
    return [own, *(isa for isa in others if isa != own and not (isa.neon and own.neon))]


def guarded(module, operands, isa, *, start):
    """The results of arrays, which all lie before (or, from the `start`, behind) what is forbidden, as results do."""
    program = generate(module, isa)
    plan, objects = program.plan, objects_of(program, isa)
    values = [stored(x, spec) for x, spec in zip(operands, plan.inputs, strict=True)]
    for spec in plan.buffers[len(operands) :]:
        dtype = np.dtype(spec.dtype.traits.numpy)
        values.append(np.full(max(spec.nbytes, dtype.itemsize), 77, np.uint8).view(dtype))
    memory, buffers = zip(*(_between_guards(each, start=start) for each in values), strict=True)
    for launch in plan.launches:
        code = objects[launch.kernel]
        if is_foreign(code):
            emulate_kernel(launch, plan, code, buffers, start=start)
        else:
            run_kernel(launch, plan, code, buffers)
    results = [logical(buffers[index], plan.buffers[index]).copy() for index in plan.results]
    del memory
    return results


def _between_guards(values, *, start):
    memory = Guarded(values.nbytes, start=start)
    array = np.ctypeslib.as_array((ctypes.c_uint8 * values.nbytes).from_address(memory.address)).view(values.dtype)
    array[...] = values
    return memory, array
