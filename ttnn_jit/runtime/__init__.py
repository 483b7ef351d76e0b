"""What a compiled program needs to run: devices, memory, tensors, the loader, and `Program` itself."""
