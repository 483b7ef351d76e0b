"""Creation, transfer, conversion, and files of tensors."""
