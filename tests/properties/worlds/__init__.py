"""Random worlds of Python objects, functions that read them in many ways, and changes between calls.

A *world* is the source of a module and of a helper module. Its function `program` reads numbers and choices of the
world; the attack (`attack.py`) loads it twice, changes both copies alike, and compares what the compiled function of
one says with what the plain function of the other does. `python -m tests.properties.worlds --help` runs many.
"""
