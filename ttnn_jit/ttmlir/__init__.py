"""The Python API of MLIR, as `ttmlir` has it, over xDSL: what builders of modules for tt-mlir import.

`ttmlir.ir` is `ttnn_jit.ttmlir.ir`, and `ttmlir.dialects.ttir` a module made from the tables of `dialects/upstream`.
`_ttmlir_runtime.runtime` and `.binary` are in `ttmlir_runtime`. `finder.py` makes these names importable where no real
ones are installed.
"""
