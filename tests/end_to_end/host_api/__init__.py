"""Host functions of `ttnn`, and operations that are built on them."""
