"""Codegen: from a scheduled module of d2m, its only input, to native code.

Its folders, in the order in which a compile uses them:

| folder | task |
|---|---|
| `codegen/reading/` | reads the IR; no later folder does |
| `codegen/schedules/` | the types of kernels, launches and plans: frozen values |
| `codegen/bodies/` | the steps of a kernel, and their emission |
| `codegen/host/` | the order of the host steps, and the plan of buffers and launches |
| `codegen/fusion/` | host steps that fuse launches, and buffer reuse |
| `codegen/blocking/` | host steps that split bodies, block launches, and choose tables and tiers |
| `codegen/meshes/` | the host step that makes the plan of a mesh from that of one device |
| `codegen/writing/` | writes scheduled kernels as LLVM text, or as Python for numba |
| `codegen/checked/` | functions of the host's module of a text, as LLVM text with checks |
| `codegen/images/` | LLVM compiles the text to object code, kept by text |

Reading:

- `codegen/reading/module_reader.py` maps every value of the module to a value of the plan
  (`codegen/schedules/plan_value.py`), so that no later step depends on xDSL's values.
- `codegen/reading/kernel_reader.py` executes a generic's loops once, symbolically, which gives the steps of a kernel
  (`codegen/bodies/steps.py`). `codegen/reading/coverage.py` checks that the loops visit every tile once.
- The family of an operation decides how other ops are read: accumulating ops (`codegen/reading/accumulating.py`), and
  ops without a generic (`codegen/reading/host_kernels.py`, `codegen/reading/copies.py`,
  `codegen/reading/reducing.py`, `codegen/reading/contracting.py`, `codegen/reading/routine_kernels.py`).
- `codegen/reading/packing.py` makes the launches that pack block floats and unpack them;
  `transforms/unpacked_operands.py` inserts the casts. Host steps remove most of these launches: a product unpacks its
  operands while it packs panels (`codegen/blocking/storage_formats.py`), and other casts are computed inside a loop of
  their only producer or consumer (`codegen/blocking/compute_at.py`).

A kernel is of one of four types (`codegen/schedules/kernel.py`), and each type has a writer:

- A *loop nest*, `LoopNest`, has a body, the iteration space of its stages (all elements, blocks, rows, columns, strips
  or rows of tiles), the stages in order, and scratch memory. Its DST slots become vector registers
  (`codegen/writing/llvm_nests.py`).
- A *product*, `Contract`, has an elementwise epilogue over its rows (`codegen/writing/llvm_products.py`). It runs over
  blocks of packed operands (`kernels/contraction/contracting_blocks.py`), over windows of an unpacked operand
  (`kernels/contraction/contracting_windows.py`), over few rows with one read of the second operand
  (`kernels/contraction/contracting_rows.py`), or as dot products, one for each lane
  (`kernels/contraction/contracting_dots.py`).
- A *copy*, `Copy`, moves elements through registers or converts block floats (`codegen/writing/llvm_copies.py`).
- A *routine*, `Routine`, has loops of its own (`codegen/writing/llvm_routines.py`). numba compiles them, except for two
  that have writers here: the copy of rows by index (`kernels/loops/gathered_rows.py`), and the index of the largest or
  smallest element (`kernels/loops/argument_reduction.py`).

Each kind of stage of a loop nest is a file that says how the stage is emitted (`codegen/schedules/nest_stage.py`). A
`Stage` runs steps as a loop over vectors (`codegen/schedules/stages.py`). A `Sweep` runs a stage over a row and reduces
it (`codegen/schedules/sweep.py`, `kernels/loops/swept_loops.py`, `kernels/loops/swept_columns.py`,
`kernels/loops/chunk_folds.py`, `kernels/loops/row_folds.py`). Conversions of block floats surround a stage
(`codegen/schedules/conversion.py`), for a strip of tiles at a time (`kernels/loops/strip_loops.py`) or a row of tiles
(`kernels/loops/row_strips.py`).

Launches and images:

- `codegen/schedules/bound_kernel.py` binds a kernel to the values that it reads and writes.
  `codegen/schedules/launch.py` derives loops and strides from shapes, layouts and views
  (`specs/access/strided_walk.py` splits the loops).
- `codegen/host/host_program.py` makes the launches of a module's ops and the buffers of the plan; values with disjoint
  live ranges share buffers (`codegen/fusion/buffer_reuse.py`).
- `codegen/images/kernel_images.py` caches the images of kernels by their text. LLVM makes the images of a large program
  in several threads while the later passes run (`codegen/images/assembly_threads.py`).

Two other implementations check this one. `codegen/numba_kernel.py` writes the same loop nests as Python loops, which
numba compiles with few of its passes (`kernels/numba/numba_pipeline.py`). `interpreters/tile_interpreter.py` executes
the module literally, tile by tile, without inlining its calls, and gives the bits of the LLVM text.
"""
