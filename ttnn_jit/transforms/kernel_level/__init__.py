"""From scheduled kernels to the kernels of a core: a reader, a compute kernel and a writer for each `d2m.generic`.

`kernel_writer.py` writes ops of ttkernel, arithmetic on indices, and loops. `block_walk.py` walks the loops over the
blocks of a kernel, which the three kernels share. `core_movement.py` writes the reader and the writer,
`compute_kernel.py` the compute kernel, with `tile_program.py` for tile ops and `dst_section.py` for the slots of DST.
`host_side.py` writes what the host passes to them, and where tensors and circular buffers lie.
"""
