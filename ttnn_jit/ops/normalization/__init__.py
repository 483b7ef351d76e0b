"""Softmax and norms."""
