"""Compiled programs, and what a run of one does."""
