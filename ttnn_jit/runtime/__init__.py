"""What a compiled program needs to run: devices, memory, tensors, the loader, and `Program` itself.

Object code is mapped without a linker (`runtime/native/image.py`, `runtime/native/executable.py`). There are devices
(`runtime/device.py`) with a pool of buffers (`runtime/memory/buffer.py`) and an account of every core's L1
(`runtime/memory/l1.py`), which refuses shards on cores that the device lacks, tensors, and `Program`, whose every run
is one call of a builtin function made of native code (`runtime/native/entry.py`), however many kernels it has.
`runtime/native/native_call.py` links a program's code and its launch table, and `runtime/programs/caller.py` runs it.
`runtime/plans/plan.py` says what a program does without its code; `runtime/plans/launch_bounds.py` checks every launch
of a plan, and a program from a file or a cache also against what its images say that they were made for. Kernels
predicted to take long (`runtime/plans/host_costs.py`) are cut into chunks (`runtime/native/chunks.py`), which the
caller and helper threads take (`runtime/native/launch_ir.py`, `runtime/native/helper_ir.py`; how many there are says
`runtime/native/threads.py`; `runtime/native/structures.py` is what they share with Python). Weights of products that
stay are packed in their tensor's place (docs/packed_weights.md, `runtime/native/panels.py`). While a trace is captured
`runtime/native/recorder.py` notes launches and copies instead, over a pool of its own; a replay is one call of the same
native code. Of the tensors that traces read, `runtime/memory/captured_memory.py` knows whose memory is whose. What a
call must know of ttnn's, torch's and numpy's tensors, and how what a program made of its inputs is written into them,
is one description each (`libraries/`).
"""
