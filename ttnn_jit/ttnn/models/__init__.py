"""Models of torch as ttnn programs take them."""
