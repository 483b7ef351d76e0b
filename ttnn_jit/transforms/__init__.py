"""The passes from the TTNN dialect to scheduled kernels, and their algorithms.

There is one file per pass, with helpers in `transforms/kernels/`; the order is `transforms/stage_order.py`. A pass
transforms every function of a module, and keeps calls.

A program is an entry point of a module. Its calls are inlined before the first stage (`transforms/passes/inline.py`),
as in tt-mlir's pipelines: fusion decides what is rounded under IEEE numerics, so that only inlined ops give the numbers
of the callee's source, and codegen and the runtime read one function with one plan. `ttnn-jit opt` keeps calls through
the stages; then nothing is fused across them.

TTNN becomes TTIR; composites are decomposed (`transforms/passes/ttir_decompose_composites.py`); each op becomes a
`d2m.generic`; constants become scalars. Generics are fused by the predicates of `transforms/kernels/partition.py`:
trees on chips, whole cones of values on cpu, within the limits of the target (`specs/target.py`). Tile ops are
scheduled for few DST tiles, the fewest for trees (`transforms/kernels/schedule.py`), and each value gets its DST slot
(`transforms/kernels/slots.py`).

On cpu a movement of one tensor becomes a `d2m.view_layout`, whose affine map gives the operand's index of each element,
and a kernel that copies it, which is fused like others. A reduction of one dimension and a matrix product become
kernels with a `reduction` loop (`transforms/kernels/reducing_generics.py`): they read padding through `d2m.mask`, and
accumulate in a DST slot across the loop.

On chips a kernel reduces only tensors that are sharded in L1, and multiplies only tensors in DRAM or block sharded, in
whole tiles and without transposition. Other reductions and products, and all movements, stay operations of the host
program, each a launch of its own; so do `concat` and products of vectors on every target.

In compiles that show no stage, kernels that are equal after fusion, such as those of a model's layers, are lowered and
read once (`transforms/kernels/equal_kernels.py`).
"""
