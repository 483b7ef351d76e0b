"""Compiled programs and their calls."""
