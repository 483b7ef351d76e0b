"""Index maps between tensors, and the strided loops that walk them."""
