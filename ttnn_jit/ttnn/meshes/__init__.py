"""Meshes of devices: collectives, topologies, and tensors of several devices."""
