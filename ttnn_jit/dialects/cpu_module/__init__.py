"""The functions of `ttcore.cpu_module` in LLVM's dialect, as texts of TTNN at the level of the runtime hold them.

`cpu_functions.py` finds a function and what it calls, `memory_layout.py` lays types out in memory, and
`instruction_attributes.py` reads the attributes of LLVM's operations.
"""
