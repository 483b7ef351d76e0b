"""Functions of the host's module in numpy: the golden of their native code, which shares nothing with it but the text.

`host_interpreter.py` runs a function block by block, and loops whose trips are independent with all trips at once;
`instruction_meanings.py` has the value of each operation, and `address_space.py` the memory.
"""
