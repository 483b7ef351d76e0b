"""The frontend of texts: modules of ttir, ttnn and stablehlo that tt-mlir and the compilers above it write.

`texts.py` parses a file of one or several modules. `text_attributes.py` reads the attributes of an op as Python values,
and `tensor_types.py` its types as specs. `lowering.py` writes a function of a module as calls of declared operations,
over the `ModuleBuilder` of the other frontends: what an op of a text means is its declaration (ops/texts,
ops/families/text_operation.py). Operations are inferred from operands as in any program; a result then gets the element
type that the text says.
"""
