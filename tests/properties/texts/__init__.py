"""Modules as text: edited, damaged, and carried out by other means."""
