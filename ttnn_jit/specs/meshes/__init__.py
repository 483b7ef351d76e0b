"""Meshes of devices as data: shapes, coordinates, and the placement of a tensor on them."""
