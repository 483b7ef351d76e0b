"""Executes the kernels of cores literally: every thread of every core as a coroutine, and checks their protocol.

`host_machine.py` executes the host program, and launches kernels at `ttmetal.enqueue_program`, or at a `d2m.generic`
that names kernel functions. A launch (`kernel_launch.py`) makes a core (`kernel_core.py`) for each place of the grid:
its L1, its circular buffers (`circular_buffer.py`), its semaphores and DST (`dst_registers.py`), and a thread for each
kernel. The functions are translated to steps once (`kernel_steps.py`): `scalar_steps.py` has arithmetic,
`dataflow_steps.py` circular buffers and the NoC, `semaphore_steps.py` semaphores, `tile_steps.py` tile functions,
`engine_steps.py` what the matrix engine and the unpackers do.
`scheduler.py` runs the threads in turns; a thread that has to wait yields what it waits for, and if all wait, that is a
deadlock. Memory is bytes, in which a tile has four faces as on a chip (`memory.py`).

Tile functions are those of the tile interpreter: the declarations' `emit` over `NumpyVector`, and its accumulators.
"""
