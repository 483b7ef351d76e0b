"""Scheduled d2m in, native code out; and the tile interpreter that executes the same text literally.

In the order in which a program meets them: `kernel_body` reads each generic (`steps`, `launch`), `llvm_kernel` writes
its text, `plan` lists the launches, `assemble` makes object code. `interpreter` and `numpy_kernel` need no LLVM.
"""
