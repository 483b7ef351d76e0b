"""Collectives: operations between the devices of a mesh, and the fold of several devices' tensors."""
