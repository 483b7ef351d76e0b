"""LLVM functions as the writers of loops build them."""
