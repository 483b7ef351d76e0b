"""The frontend of texts: modules of ttir, ttnn and stablehlo that tt-mlir and the compilers above it write.

`texts.py` parses a file of one or several modules. `lowering.py` writes a function of a module as one program of all
devices, `device_lowering.py` as each device runs it; what they return is in `lowered_text.py`. Where a
function of the host's module is called, the program has several parts (`program_parts.py`). `ops_of_text.py` writes
one op as calls of declared operations, over the `ModuleBuilder` of the other frontends: what an op of a text means is
its declaration (ops/texts, ops/families/text_operation.py). Operations are inferred from operands as in any program; a
result then gets the element type that the text says. `known_values.py` has the numbers that are known before a program
runs, such as how often a loop repeats. dialects/text_calls reads attributes as Python values, and types as specs.
"""
