"""Containers of the parameters of torch models, as ttnn programs take them."""
