"""The interpreter of Python over tensors without data: names, attributes, containers, operators, control flow."""
