"""The runtime of compiled programs: devices, memory, tensors, the loader, and `Program` itself.

A device (`runtime/device.py`) has a pool of buffers (`runtime/memory/buffer.py`) and an account of every core's L1
(`runtime/memory/l1.py`), which refuses shards on cores that the device lacks. Object code is mapped without a linker
(`runtime/native/image.py`, `runtime/native/executable.py`). Every run of a `Program`, with any number of kernels, is
one call of a builtin function made of native code (`runtime/native/entry.py`). `runtime/native/native_call.py` links a
program's code and its launch table, and `runtime/programs/caller.py` runs it.

`runtime/plans/plan.py` describes a program without its code. `runtime/plans/launch_bounds.py` checks every launch of a
plan, and compares a program from a file or a cache with the signatures in its images. Kernels with a long predicted
time (`runtime/plans/host_costs.py`) are cut into chunks (`runtime/native/chunks.py`); short launches that do not depend
on each other become groups, whose chunks are whole launches (`runtime/native/launch_groups.py`). The caller and helper
threads run the chunks (`runtime/native/launch_ir.py`, `runtime/native/helper_ir.py`). `runtime/native/threads.py` sets
the number of helpers; `runtime/native/structures.py` defines the memory that they share with Python.

Weights that many products read are packed in place of their tensor's memory (docs/packed_weights.md,
`runtime/native/panels.py`). During the capture of a trace `runtime/native/recorder.py` records launches and copies over
a pool of its own; a replay is one call of the same native code. `runtime/memory/captured_memory.py` tracks the memory
of tensors that traces use. `libraries/` describes ttnn's, torch's and numpy's tensors, one class each: how a call
checks them, finds their memory, makes results and writes updates.
"""
