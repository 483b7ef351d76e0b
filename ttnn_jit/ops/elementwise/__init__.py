"""Elementwise operations: one number of the result from one of every operand."""
