"""Scheduled d2m in, native code out; and the tile interpreter that executes the same text literally.

Native code is made of nothing but the scheduled module.

- `codegen/reading/module_reader.py` gives every value of the module a tensor of the plan's own
  (`codegen/schedules/plan_value.py`), so that no later step knows xDSL's values.
- `codegen/reading/kernel_reader.py` executes a generic's loops once, symbolically, to the steps of a kernel
  (`codegen/bodies/steps.py`); `codegen/reading/coverage.py` checks that they meet every tile once, and
  `codegen/reading/accumulating.py` has what reduces by family. Ops without a generic have kernels by their family too
  (`codegen/reading/host_kernels.py`, `codegen/reading/copies.py`).
- A kernel is one of four kinds, which its type says (`codegen/schedules/kernel.py`): a *loop nest* has a body, what its
  stages run over (all elements, blocks, rows, columns, strips or rows of tiles), the stages in order, and scratch
  memory; a *product* has an epilogue over its rows; a *copy* moves elements through registers or converts block floats;
  a *routine* has loops of its own. Kinds of stages are a file each, which says how it is written
  (`codegen/schedules/nest_stage.py`): steps as a loop over vectors (`codegen/schedules/stages.py`) is one. A sweep
  (`codegen/schedules/sweep.py`) runs one over a row and reduces it; conversions (`codegen/schedules/conversion.py`)
  surround one. `codegen/schedules/bound_kernel.py` binds a kernel to what it reads and writes.
- `codegen/schedules/launch.py` derives loops and strides from shapes, layouts and views (`specs/access/strided_walk.py`
  splits the loops).
- `codegen/host/` is the host's own compile.
- `codegen/host/host_program.py` makes launches of a module's ops, and a plan's buffers, of which dead ones serve
  later values (`codegen/fusion/buffer_reuse.py`); `codegen/writing/llvm_kernel.py` has a kernel written by its kind: a
  loop nest (`codegen/writing/llvm_nests.py`) by what it runs over, with DST slots in vector registers, a product
  (`codegen/writing/llvm_products.py`), a copy (`codegen/writing/llvm_copies.py`) or a routine
  (`codegen/writing/llvm_routines.py`).
- `codegen/reading/packing.py` makes the launches that pack block floats and unpack them
  (`kernels/block_floats/packing_loops.py`, `kernels/block_floats/packing_blocks.py`,
  `kernels/block_floats/packing_groups.py`), tiles at a time; `transforms/unpacked_operands.py` puts these casts around
  operations. Most of them are no launches in the end: products read their factors in their storage format and unpack
  them as they pack them (`codegen/blocking/storage_formats.py`, `kernels/contraction/contracting_unpacking.py`); others
  are computed at a loop of their one neighbour (`codegen/blocking/compute_at.py`), a strip of tiles at a time in loops
  over elements (`kernels/loops/strip_loops.py`), a row of tiles in sweeps over rows (`kernels/loops/row_strips.py`).
- `codegen/reading/reducing.py`, `codegen/reading/contracting.py` and `codegen/reading/routine_kernels.py` make the
  kernels of their families: sweeps over rows or columns (`kernels/loops/swept_loops.py`,
  `kernels/loops/chunk_folds.py`, `kernels/loops/row_folds.py`, `kernels/loops/swept_columns.py`); blocks of packed
  operands (`kernels/contraction/contracting_blocks.py`), of which windows are read where they lie
  (`kernels/contraction/contracting_windows.py`), one read of the second operand for a few rows
  (`kernels/contraction/contracting_rows.py`), or lanes of a dot product each
  (`kernels/contraction/contracting_dots.py`), with an elementwise epilogue; the loops around a routine's own, which
  numba compiles unless it copies rows that indices name (`kernels/loops/gathered_rows.py`) or finds the index of the
  largest or smallest element (`kernels/loops/argument_reduction.py`).
- `codegen/images/kernel_images.py` keeps the images of kernels by their text; `codegen/images/assembly_threads.py` has
  LLVM make those of a large program in several threads, while the passes behind codegen run.
- `codegen/numba_kernel.py` writes the same loop nests as Python loops instead, which numba compiles by few of its
  passes (`kernels/numba/numba_pipeline.py`), and `interpreters/tile_interpreter.py` executes the module literally, tile
  by tile (`interpreters/tensor_interpreter.py`: whole tensors), calls where they stand, with the bits of LLVM text.
"""
