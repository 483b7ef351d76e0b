"""Meshes of devices: `mesh`, the numbers of their devices, then tensors on them and calls with these."""
