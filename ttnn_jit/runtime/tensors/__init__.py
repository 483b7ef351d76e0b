"""Tensors, their metadata and their printed form."""
