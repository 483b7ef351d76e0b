"""Codegen: from a scheduled module of d2m to native code, which depends on nothing but that module.

- `codegen/reading/module_reader.py` maps every value of the module to a value of the plan
  (`codegen/schedules/plan_value.py`), so that no later step knows xDSL's values.
- `codegen/reading/kernel_reader.py` executes a generic's loops once, symbolically, which gives the steps of a kernel
  (`codegen/bodies/steps.py`); `codegen/reading/coverage.py` checks that the loops visit every tile once, and
  `codegen/reading/accumulating.py` reads accumulating ops by family. Ops without a generic have kernels by family too
  (`codegen/reading/host_kernels.py`, `codegen/reading/copies.py`).
- A kernel is of one of four types (`codegen/schedules/kernel.py`): a *loop nest* has a body, the iteration space of its
  stages (all elements, blocks, rows, columns, strips or rows of tiles), the stages in order, and scratch memory; a
  *product* has an epilogue over its rows; a *copy* moves elements through registers or converts block floats; a
  *routine* has loops of its own. Each kind of stage is a file that says how the stage is emitted
  (`codegen/schedules/nest_stage.py`): steps as a loop over vectors (`codegen/schedules/stages.py`) is one. A sweep
  (`codegen/schedules/sweep.py`) runs one over a row and reduces it; conversions (`codegen/schedules/conversion.py`)
  surround one. `codegen/schedules/bound_kernel.py` binds a kernel to what it reads and writes.
- `codegen/schedules/launch.py` derives loops and strides from shapes, layouts and views (`specs/access/strided_walk.py`
  splits the loops).
- `codegen/host/` is the host's own compile.
- `codegen/host/host_program.py` makes the launches of a module's ops and the buffers of the plan; later values reuse
  the buffers of dead ones (`codegen/fusion/buffer_reuse.py`). `codegen/writing/llvm_kernel.py` emits a kernel by its
  kind: a loop nest (`codegen/writing/llvm_nests.py`) with DST slots in vector registers, a product
  (`codegen/writing/llvm_products.py`), a copy (`codegen/writing/llvm_copies.py`) or a routine
  (`codegen/writing/llvm_routines.py`).
- `codegen/reading/packing.py` makes the launches that pack block floats and unpack them
  (`kernels/block_floats/packing_loops.py`, `kernels/block_floats/packing_blocks.py`,
  `kernels/block_floats/packing_groups.py`), tiles at a time; `transforms/unpacked_operands.py` puts these casts
  around operations. Few of them remain launches: products read their factors in their storage format and unpack them
  as they pack panels (`codegen/blocking/storage_formats.py`, `kernels/contraction/contracting_unpacking.py`); others
  are computed at a loop of their only producer or reader (`codegen/blocking/compute_at.py`), a strip of tiles at a
  time in loops over elements (`kernels/loops/strip_loops.py`), a row of tiles in sweeps over rows
  (`kernels/loops/row_strips.py`).
- `codegen/reading/reducing.py`, `codegen/reading/contracting.py` and `codegen/reading/routine_kernels.py` make the
  kernels of their families: sweeps over rows or columns (`kernels/loops/swept_loops.py`,
  `kernels/loops/chunk_folds.py`, `kernels/loops/row_folds.py`, `kernels/loops/swept_columns.py`); blocks of packed
  operands (`kernels/contraction/contracting_blocks.py`), of which windows are read where they lie
  (`kernels/contraction/contracting_windows.py`), one read of the second operand for a few rows
  (`kernels/contraction/contracting_rows.py`), or lanes of a dot product each
  (`kernels/contraction/contracting_dots.py`), with an elementwise epilogue; the loops around a routine's own, which
  numba compiles unless it copies rows that indices name (`kernels/loops/gathered_rows.py`) or finds the index of the
  largest or smallest element (`kernels/loops/argument_reduction.py`).
- `codegen/images/kernel_images.py` keeps the images of kernels by their text. LLVM makes the images of a large program
  in several threads while the later passes run (`codegen/images/assembly_threads.py`).
- `codegen/numba_kernel.py` writes the same loop nests as Python loops instead, which numba compiles by few of its
  passes (`kernels/numba/numba_pipeline.py`), and `interpreters/tile_interpreter.py` executes the module literally, tile
  by tile (`interpreters/tensor_interpreter.py`: whole tensors), calls where they stand, with the bits of LLVM text.
"""
