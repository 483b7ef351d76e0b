"""Where tensors lie, what is written in place, and what is a view of what."""
