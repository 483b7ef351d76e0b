"""What ttkernel has for this compiler's operations: `tile_functions.py` finds it in the tables of `dialects/upstream/`.

The ops themselves are those of the tables. `transforms/kernel_level/` writes them, and `interpreters/kernel_level/`
executes them.
"""
