"""Modules as text: printed as mlir-opt prints them, and parsed."""
