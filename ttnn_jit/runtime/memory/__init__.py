"""Memory of tensors: buffers, L1, what lies over what."""
