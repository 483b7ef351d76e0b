"""Memory of tensors: buffers, the L1 account, overlap of tensors, and memory that traces use."""
