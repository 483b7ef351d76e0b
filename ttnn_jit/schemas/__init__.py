"""Files of tt-mlir's flatbuffer schemas: binaries of ttnn and ttmetal, system descriptions.

`schema.tsv` holds the facts of tt-mlir's schemas of December 2025 and August 2026, `schema.py` gives them by name. One
interpreter writes any table (`flatbuffer_writer.py`) and one reads any (`flatbuffer_reader.py`), between bytes and
trees of dicts, as `flatc` has them in JSON (`json_text.py`). `binary_file.py` knows files: their versions, hashes and
errors.
"""
