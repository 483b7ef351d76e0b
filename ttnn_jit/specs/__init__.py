"""Frozen values that reach keys: what a tensor, a target and a compile are.

What reaches keys is frozen: `specs/tensor_spec.py`, `specs/dtypes.py` (a row of traits per element type),
`specs/memory_config.py`, `specs/cores.py`, `specs/sharding.py` (which grids fit a shape), `specs/target.py`; which
element of one another's is (`specs/access.py`), in terms of `specs/index_expressions.py`, and the strides of that
(`specs/strided_walk.py`); and the rules for them: `specs/target_rules.py` (what a target refuses, `max_grid` among
it; the errors of reductions and products are those of `frontend/kernel_operands.py`), `specs/product_precision.py`,
`specs/options.py`, which reads the environment too. What tt-mlir specifies of layouts and devices is executable
there, and no compile reads it: `specs/tensor_layout.py`, `specs/device_layout.py` (docs/tensor_layout.md).
"""
