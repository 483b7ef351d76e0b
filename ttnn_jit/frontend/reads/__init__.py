"""The reads of the user's world that a compile records: source, code, values, tensors."""
