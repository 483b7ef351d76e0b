"""Python's statements and expressions, interpreted over tensors that hold no data."""
