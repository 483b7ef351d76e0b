"""What the host makes of a scheduled module: a plan of launches, taken through the steps of `host_steps`.

A `HostPlan` of launches (`codegen/host/host_plan.py`) goes through the functions that `codegen/host/host_steps.py`
lists, in order on one page. Kernels read through launches that only move elements (`codegen/host/copy_folding.py`)
and where a tensor is padded in parts (`codegen/host/padded_reads.py`), what a product alone reads is copied in blocks
of rows or image by image (`codegen/host/copy_blocks.py`), elementwise ones run in the shapes of their neighbours
(`codegen/host/common_shapes.py`); `codegen/host/loop_fusion.py` runs those that feed each other over the same
elements as one launch; a body becomes one loop, or sweeps over rows (`codegen/host/sweeps.py`);
`codegen/host/lookup.py` tabulates functions of 16-bit elements, `codegen/host/fission.py` cuts long bodies,
`codegen/host/register_moves.py` has copies turned around in registers (`kernels/transposing_loops.py`,
`kernels/stepping_loops.py`, `kernels/repeating_loops.py`), `codegen/host/tiers.py` says how much LLVM optimises;
`codegen/host/score_blocks.py` has two products with a softmax between them run for some rows after others, without
the columns that none of these rows sees (`codegen/host/unseen_columns.py`, by `codegen/host/value_ranges.py`).
Launches in blocks are a `Repeat` of the plan (`runtime/launches.py`): a count of rounds, per operand the steps from
one to the next, and per loop by how much it is longer there, as a causal mask has it; they are written out where a
launch table is made. What was chosen stands in each launch's kernel; `codegen/host/host_text.py` prints it, the stage
`host`, and `explain()` says it.
"""
