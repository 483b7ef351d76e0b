"""Binaries of tt-mlir: `.ttnn` programs, `.ttsys` system descriptions and `.ttm` headers as flatbuffers.

`schema.tsv` holds the facts of tt-mlir's schemas of December 2025 and August 2026, `schema.py` gives them by name. One
interpreter writes any table (`flatbuffer_writer.py`) and one reads any (`flatbuffer_reader.py`), between bytes and
trees of dicts, as `flatc` has them in JSON. `operation_rows.py` says which table holds an operation.
`module_to_tables.py` makes the tree of a module of TTNN, `tables_to_module.py` a module of a tree. `binary_file.py`
knows files: their versions, hashes and errors.
"""
