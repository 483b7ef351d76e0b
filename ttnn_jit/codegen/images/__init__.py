"""What LLVM makes of a kernel's text."""
