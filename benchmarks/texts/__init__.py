"""Yardsticks over trees of MLIR texts that the user names."""
