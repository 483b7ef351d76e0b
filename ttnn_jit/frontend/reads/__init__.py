"""What a compile reads of the user's world: source, code, values, tensors."""
