"""Memory of tensors, in-place updates, and views."""
