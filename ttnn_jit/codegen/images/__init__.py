"""Images: the native code that LLVM makes of a kernel's text."""
