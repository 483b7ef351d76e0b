"""Collectives: operations between the devices of a mesh, the fold of their tensors, and the parts of ranks."""
