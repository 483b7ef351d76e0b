"""Products: what is packed, the microkernel, and the loops around it."""
