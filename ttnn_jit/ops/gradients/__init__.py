"""Gradients of operations, ``ttnn.<name>_bw``."""
