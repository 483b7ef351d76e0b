"""Other people's objects: numpy arrays, torch tensors, containers of them, any value of the user's.

`foreign/pytrees.py` walks containers, and `foreign/values.py` says by which rule a value of the user's is believed.
"""
