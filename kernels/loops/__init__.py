"""Loops over elements: one file for each shape."""
