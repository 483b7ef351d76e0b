"""Meshes of devices: placements of tensors, collectives, and exchanges that are built on them."""
