"""Tensors made, moved, converted, read and written."""
