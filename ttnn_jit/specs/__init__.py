"""Frozen descriptions of tensors, targets and compiles, which are parts of cache keys.

Tensors: `specs/tensor_spec.py`, `specs/dtypes.py` (a row of `specs/dtype_traits.py` each),
`specs/cores/memory_config.py`, `specs/cores/cores.py`, `specs/cores/sharding.py` (shards). Targets: `specs/target.py`,
`specs/target_rules.py` (what a target refuses; `frontend/writing/kernel_operands.py` has the errors of reductions and
products). Compiles: `specs/options.py`, which also reads the environment variables, and `specs/product_precision.py`.
Index maps between tensors: `specs/access/access.py`, their expressions `specs/access/index_expressions.py`, and their
strided loops `specs/access/strided_walk.py`.

The executable specification of tt-mlir's layouts and devices is not here but in `layout_specification/`
(docs/tensor_layout.md); no compile reads it.
"""
