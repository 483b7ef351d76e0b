"""What of a tree of MLIR texts is read, printed back, verified and refused."""
