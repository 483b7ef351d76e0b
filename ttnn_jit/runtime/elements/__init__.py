"""The elements of tensors, as numpy and torch see them in memory."""
