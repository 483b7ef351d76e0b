"""Numbers, affine maps and names as MLIR prints them, and the scan of a text before it is parsed."""
