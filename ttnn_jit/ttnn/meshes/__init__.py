"""Meshes of devices, and what these exchange."""
