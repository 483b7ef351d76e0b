"""From the arguments of a call to its program: keys of metadata, the warm path, results.

`dispatch/warm_calls.py`, which jitted and eager calls share, goes straight to the function that was generated for a
program (`runtime/programs/warm_caller.py`); `dispatch/kept_programs.py` says how many programs a function has, and
which go. A jitted call that takes the slow path is flattened once (`dispatch/arguments.py`): the tensors among its
arguments, and a key of interned `TensorSpec` objects and of scalars by type and bits (`atom_key` in
`foreign/values.py`). `dispatch/placement.py` says on which target it runs, and refuses tensors on the host or of
several libraries; `dispatch/results.py` makes what the user gets.
"""
