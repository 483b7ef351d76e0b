"""Frozen values that reach keys: what a tensor, a target and a compile are.

What reaches keys is frozen: `specs/tensor_spec.py`, `specs/dtypes.py` (a row of traits per element type),
`specs/cores/memory_config.py`, `specs/cores/cores.py`, `specs/cores/sharding.py` (which grids fit a shape),
`specs/target.py`; which element of one another's is (`specs/access/access.py`), in terms of
`specs/access/index_expressions.py`, and the strides of that (`specs/access/strided_walk.py`); and the rules for them:
`specs/target_rules.py` (what a target refuses, `max_grid` among it; the errors of reductions and products are those of
`frontend/writing/kernel_operands.py`), `specs/product_precision.py`, `specs/options.py`, which reads the environment
too. What tt-mlir specifies of layouts and devices is executable there, and no compile reads it:
`layout_specification/tensor_layout.py`, `layout_specification/device_layout.py` (docs/tensor_layout.md).
"""
