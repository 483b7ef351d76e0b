"""Elementwise operations: each element of the result depends on one element of every operand."""
