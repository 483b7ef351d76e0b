"""The ``custom<...>`` directives of operations, which C++ parses.

A directive is a parser and a printer (`directive.py`). There are those of types, those of StableHLO's attributes, and
the others; `operation_directives.py` has the table of all.
"""
