"""The host's compile: a plan of the launches of a scheduled module, transformed by the steps of `host_steps`.

A `HostPlan` of launches (`codegen/schedules/host_plan.py`) goes through the functions that `codegen/host/host_steps.py`
lists, in order on one page.

Fusion:

- Kernels read through launches that only move elements (`codegen/fusion/copy_folding.py`) and through padding, in parts
  (`codegen/fusion/padded_reads.py`).
- Elementwise launches take the shapes of their producers and readers (`codegen/fusion/reshape_propagation.py`), and
  those that feed each other over the same elements become one launch (`codegen/fusion/loop_fusion.py`).
- Kernels that differ in constants become one, which loads them (`codegen/blocking/kernel_sharing.py`).
- A body becomes one loop, or sweeps over rows (`codegen/fusion/sweeps.py`).
- Copies are permuted in registers (`codegen/fusion/register_moves.py`, `kernels/loops/transposing_loops.py`,
  `kernels/loops/stepping_loops.py`, `kernels/loops/repeating_loops.py`).

Blocking:

- Copies that only a product reads are made in blocks of rows or image by image (`codegen/blocking/copy_blocks.py`).
- Two products with a softmax between them run one block of rows at a time
  (`codegen/blocking/attention_row_blocking.py`), without columns that a mask hides from all rows of a block
  (`codegen/blocking/masked_block_skipping.py`, by `codegen/blocking/value_ranges.py`).
- Functions of 16-bit elements become tables (`codegen/blocking/lookup.py`), long bodies are split
  (`codegen/blocking/fission.py`), and a tier says how much LLVM optimises (`codegen/blocking/tiers.py`).

Launches in blocks are a `Repeat` of the plan (`runtime/plans/launches.py`): a count of rounds, per operand the offset
from one round to the next, and per loop its growth per round, which causal masks need. The launch table unrolls them.
The schedule stands in each launch's kernel; `codegen/host/host_text.py` prints it as the stage `host`, and `explain()`
reports it.
"""
