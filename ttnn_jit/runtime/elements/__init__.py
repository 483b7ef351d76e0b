"""Access to the elements of tensors in memory, by numpy and torch."""
