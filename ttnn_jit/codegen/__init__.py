"""Scheduled d2m in, native code out; and the tile interpreter that executes the same text literally.

In the order in which a program meets them: `kernel_reader` reads each generic (`steps`, `launch`), `loop_fusion` joins
them, `llvm_kernel` writes the text of each (`lookup`, `fission`, `vector_loop`, `body_emitter`, `tiers`),
`host_program` lists the launches, `assemble` makes object code. `tile_interpreter` needs no LLVM.
"""
