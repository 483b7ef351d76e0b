"""Reference interpreters of the IR in numpy: every core, loop and DST slot is executed, without code of codegen.

`mesh_interpreter` runs one machine of `tile_interpreter` for each device of a mesh, and collectives between them.
The value-range analysis of codegen (`codegen/blocking/value_ranges.py`) evaluates operations without operands by
`interpreters/tensor_interpreter.py`.
"""
