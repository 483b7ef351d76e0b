"""Reference interpreters of the IR in numpy: every core, loop and DST slot is executed, without code of codegen.

The value-range analysis of codegen (`codegen/blocking/value_ranges.py`) evaluates operations without operands by
`interpreters/tensor_interpreter.py`.
"""
