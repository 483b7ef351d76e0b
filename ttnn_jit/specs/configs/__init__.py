"""ttnn's configs of operations: how a chip distributes and computes them."""
