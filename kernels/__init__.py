"""Vector math and loops: what native kernels are built with.

`kernels/llvm/` builds LLVM functions: typed values, instructions, blocks that take arguments, loops and branches as
`with` blocks, functions of a kernel's form (docs/adding_a_loop.md); no other file spells LLVM, and no pass over the IR
runs behind it, so block order and addresses are its own. llvmlite's own builder was measured and not taken. Over it
stand vector math over a small set of primitives (`kernels/math/primitives.py`), one file per group of functions,
gathered in `kernels/math/vector_math.py`; written once for AVX-512, AVX2, NEON and for numpy, and in libm's functions
for numba (`kernels/numba/python_scalar.py`); the rounding to what an element type stores, a NaN's included
(`kernels/math/conversions.py`; by one instruction where the processor has it, `kernels/vectors/llvm_vector.py`); and
the loop around it (`kernels/loops/tile_loop.py`, `kernels/loops/tail_copies.py`). Data of the host are packed and
unpacked there too, in numpy (`kernels/block_floats/block_floats.py`, `kernels/block_floats/stored_elements.py`).
"""
