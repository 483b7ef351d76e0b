"""Passes over texts of tt-mlir, by its names and options.

`text_pass.py` is what a pass is, `registry.py` finds them, `pipelines.py` has the pipelines of several; `passes/`,
`standalone_passes/` and `ttnn_passes/` have one file for each pass. What operations become is in
`dialects/upstream/rewriting`, by their names.
"""
