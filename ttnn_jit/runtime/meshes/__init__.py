"""Meshes of devices and their tensors, and programs for all devices of a mesh."""
