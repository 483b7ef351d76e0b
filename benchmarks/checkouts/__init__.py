"""Comparisons of checkouts: the code that they compile, their speed, and their lines of code."""
