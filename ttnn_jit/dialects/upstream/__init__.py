"""Texts of tt-mlir, StableHLO and Shardy: every operation, attribute and type of their dialects, from tables.

The tables (`operations.tsv`, `attributes.tsv`, `enums.tsv`, `constraints.tsv`) hold facts of the dialects' ODS files in
two versions; `generate_tables.py` makes them, and `tables.py` reads their rows. A row becomes a class when a text first
names it: `table_operations.py` for ops, `table_attributes.py` for attributes and types. `formats.py` parses assembly
formats, and `parameter_syntax.py` knows the syntax of parameters; what C++ parses there is by hand in
`attribute_syntax.py`. `upstream_parser.py` is the parser, `reading.py` its entry. Nothing of this folder is loaded
before a text is read.
"""
