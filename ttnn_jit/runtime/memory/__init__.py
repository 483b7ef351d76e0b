"""Memory of tensors: buffers, memory that replicas share, the L1 account, overlap of tensors, and memory of traces."""
