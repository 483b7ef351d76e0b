"""Cores, how tensors are sharded over them, and where they lie."""
