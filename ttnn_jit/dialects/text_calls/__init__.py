"""Ops of texts as calls of their declarations (ops/texts, ops/conversions).

`text_attributes.py` reads attributes as Python values, and `attribute_writer.py` writes them; `tensor_types.py` reads
types as specs. `op_calls.py` binds an op to its declaration, with its regions (`regions.py`). `ttir_writer.py` writes
the ops of TTIR that a conversion names.
"""
