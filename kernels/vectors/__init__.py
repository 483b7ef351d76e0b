"""The backends of vector math: LLVM instructions of vectors, and numpy arrays."""
