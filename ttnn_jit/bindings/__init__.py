"""The Python API of MLIR, as `ttmlir` has it, over xDSL: what builders of modules for tt-mlir import.

`ttmlir.ir` is `ttnn_jit.bindings.ir`, `ttmlir.dialects.ttir` a module made from the tables of `dialects/upstream`,
`_ttmlir_runtime.runtime` and `.binary` are `ttnn_jit.bindings.runtime`. `stand_in.py` makes these names importable where
no real ones are installed.
"""
