"""What loop nests are made of: the types that passes which choose loops share with writers of loops.

`streams.py` has a kernel's operands, `buffers.py` what sweeps keep on the stack, and `limits.py` the extents and sizes
that a writer of loops is made for, and that a plan must keep to.
"""
