"""Guards: what a compile read of the user's program, and how a later call detects that it has changed.

`guards/reads.py` has reads and the guards that check them in this process, `guards/fingerprints.py` the names by which
another process compares what was read. `foreign/values.py` classifies the values that can be guarded.
"""
