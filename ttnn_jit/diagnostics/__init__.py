"""Errors and warnings, and their locations in the user's files.

`diagnostics/errors.py` has the exceptions, `diagnostics/source.py` source locations with the line and the caret,
`diagnostics/tracebacks.py` tracebacks of the user's frames, and `diagnostics/origin.py` the package of a value or a
frame.
"""
