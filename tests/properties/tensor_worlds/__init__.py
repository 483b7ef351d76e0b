"""Random models with tensors in attributes, containers, functions and globals, and changes of them between calls.

A program of a model is called with tensors that may be one object, or one that the model holds; it asks for identity,
membership and existence, and computes. What a call gives is compared with what the plain function gives of the same
objects (`attack.py`). ``python -m tests.properties.tensor_worlds --help`` runs many.
"""
