"""Calls whose sizes and numbers change."""
