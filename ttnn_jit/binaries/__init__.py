"""Modules of TTNN as tables of tt-mlir's binaries, and back.

`module_to_tables.py` makes the tree of a module, which `schemas` writes; `tables_to_module.py` a module of the tables
of a file. `operation_rows.py` says which table holds an operation, `attribute_trees.py` and `attribute_reading.py` turn
attributes into fields and back, `tensor_descriptions.py` types, `constants.py` elements, `system_trees.py` systems.
"""
