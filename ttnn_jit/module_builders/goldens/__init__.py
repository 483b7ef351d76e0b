"""Goldens: tensors of several devices, and the golden of an operation."""
