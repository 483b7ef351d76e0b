"""A builder of LLVM functions, for the writers of loops."""
