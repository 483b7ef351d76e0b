"""How accurate every operation is, in every dtype and under every mode, against float64 and mpmath.

`sample` says which arguments are tried, `references` what they are compared with, `measure` runs and compares, `page`
writes docs/accuracy.md, and `python -m benchmarks.accuracy` does all of it.
"""
