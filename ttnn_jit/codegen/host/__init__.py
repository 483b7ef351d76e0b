"""What the host makes of a scheduled module: a plan of launches, taken through the steps of `host_steps`.

A `HostPlan` of launches (`codegen/schedules/host_plan.py`) goes through the functions that `codegen/host/host_steps.py`
lists, in order on one page. Kernels read through launches that only move elements (`codegen/fusion/copy_folding.py`)
and where a tensor is padded in parts (`codegen/fusion/padded_reads.py`), what a product alone reads is copied in blocks
of rows or image by image (`codegen/blocking/copy_blocks.py`), elementwise ones run in the shapes of their neighbours
(`codegen/fusion/reshape_propagation.py`); `codegen/fusion/loop_fusion.py` runs those that feed each other over the same
elements as one launch; a body becomes one loop, or sweeps over rows (`codegen/fusion/sweeps.py`);
`codegen/blocking/lookup.py` tabulates functions of 16-bit elements, `codegen/blocking/fission.py` cuts long bodies,
`codegen/fusion/register_moves.py` has copies permuted in registers (`kernels/loops/transposing_loops.py`,
`kernels/loops/stepping_loops.py`, `kernels/loops/repeating_loops.py`), `codegen/blocking/tiers.py` says how much LLVM
optimises; `codegen/blocking/attention_row_blocking.py` runs two products with a softmax between them block of rows by
block of rows, and skips columns that a mask hides from all rows of a block
(`codegen/blocking/masked_block_skipping.py`, by `codegen/blocking/value_ranges.py`). Launches in blocks are a `Repeat`
of the plan (`runtime/plans/launches.py`): a count of rounds, per operand the steps from one to the next, and per loop
by how much it is longer there, as a causal mask has it; they are unrolled where a launch table is made. What was
chosen stands in each launch's kernel; `codegen/host/host_text.py` prints it, the stage `host`, and `explain()` says it.
"""
