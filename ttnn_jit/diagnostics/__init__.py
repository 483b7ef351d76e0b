"""What the user is told, and where in the user's files.

It holds errors (`diagnostics/errors.py`), locations in source with the line and the caret (`diagnostics/source.py`),
whose code something is (`diagnostics/origin.py`).
"""
