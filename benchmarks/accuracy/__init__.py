"""The accuracy of every operation, in every dtype and mode, against float64 and mpmath.

`sample` has the arguments, `references` the reference values; `measure` runs and compares; `page` writes
docs/accuracy.md. `python -m benchmarks.accuracy` does all of it.
"""
