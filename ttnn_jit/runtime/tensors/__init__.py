"""Tensors, and what readers see of them."""
