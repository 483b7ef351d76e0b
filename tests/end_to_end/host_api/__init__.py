"""The functions of `ttnn` that are no operations, and operations over them."""
