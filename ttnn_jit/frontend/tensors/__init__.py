"""The proxy tensors that a function handles while it is compiled."""
