"""Modules as text: edited, damaged, and executed in other ways."""
