"""Objects of other libraries and of the user: numpy arrays, torch tensors, containers of them, any other value.

`foreign/pytrees.py` flattens containers. `foreign/values.py` classifies values by what a compile may assume of them.
"""
