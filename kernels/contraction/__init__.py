"""Contractions: packing of operands, the microkernel, and the loops around it."""
