"""The building blocks of native kernels: an LLVM builder, vector math and loops.

`kernels/llvm/` builds LLVM functions: typed values, instructions, blocks with arguments, loops and branches as `with`
blocks, and functions with the signature of a kernel (docs/adding_a_loop.md). No other file contains LLVM text. No pass
runs over the IR, so the builder decides block order and address computations. llvmlite's own builder was measured and
rejected.

Vector math is written once over a small set of primitives (`kernels/math/primitives.py`), one file per group of
functions, combined in `kernels/math/vector_math.py`. It serves AVX-512, AVX2, NEON and numpy; numba uses the functions
of libm (`kernels/numba/python_scalar.py`). `kernels/math/conversions.py` rounds to the storage formats of element
types, NaN included, and `kernels/vectors/llvm_vector.py` does so by one instruction if the processor has it.
`kernels/loops/tile_loop.py` and `kernels/loops/tail_copies.py` are the loop around the math.
`kernels/block_floats/block_floats.py` and `kernels/block_floats/stored_elements.py` pack and unpack data of the host
with numpy.
"""
