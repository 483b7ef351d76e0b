"""The passes from the TTNN dialect to scheduled kernels, and the algorithms that they wire.

There is one file per pass, and helpers beside them; the order stands in `transforms/stage_order.py`. Every pass takes
every function of a module, and leaves calls. A program is taken from a text of several functions by its entry point,
and what that calls is inlined before the first stage that runs (`transforms/passes/inline.py`), as tt-mlir's pipelines
do: fusion decides what is rounded under IEEE numerics, so that only a body in the call's place has the same numbers,
and codegen and the runtime know one function with one plan. Where calls are kept through the stages, by `ttnn-jit opt`,
nothing is fused across them. TTNN becomes TTIR, composites the operations that they are written in
(`transforms/passes/ttir_decompose_composites.py`), then one `d2m.generic` per op, and constants become scalars.
Generics are fused by the predicates of `transforms/kernels/partition.py`: trees on chips, whole cones of values on cpu;
the numbers in them are the target's (`specs/target.py`). Tile ops are put in an order that needs few DST tiles, the
fewest for trees (`transforms/kernels/schedule.py`), and every value gets its DST slot (`transforms/kernels/slots.py`,
which counts them). On cpu an operation of one tensor that moves elements becomes a `d2m.view_layout`, whose affine map
says which element of its operand every element is, and a kernel that copies it, which fuses as others do. A reduction
of one dimension and a product of matrices are kernels with a loop that is a `reduction`
(`transforms/kernels/reducing_generics.py`): padding is read through `d2m.mask`, and a DST slot accumulates across the
loop. On chips movements are no `d2m` kernels, reductions are those of tensors sharded in L1, products those of tensors
in DRAM or block sharded, all in whole tiles as they
lie: else they stay operations of the host program, each a launch of its own; so do `concat` and products of vectors
everywhere. Where no stage is shown, kernels that hold the same behind fusion, such as those of a model's layers, are
lowered and read once (`transforms/kernels/equal_kernels.py`).
"""
