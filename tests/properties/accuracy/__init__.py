"""Errors of results against exact ones."""
