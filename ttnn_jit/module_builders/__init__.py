"""tt-mlir's `builder` and `golden`: Python that makes a module of operations, runs it, and compares with goldens.

`base` has what all builders share: operations and goldens (`operation_builder.py`), functions (`built_functions.py`),
signatures of methods, which are derived from the tables of operations (`method_signatures.py`), compilation and
execution. `ttir`, `ttnn`, `stablehlo` and `d2m` have one builder each, with the signatures that do not follow from the
tables. `goldens` has tensors of several devices, and the golden of an operation. `ttmlir/finder.py` makes `builder` and
`golden` importable where no real ones are installed.
"""
