"""The kinds of statements and expressions of Python, in the interpreter."""
