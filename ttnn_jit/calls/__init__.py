"""Jitted functions and their calls."""
