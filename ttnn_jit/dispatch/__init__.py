"""From the arguments of a call to its program: cache keys, the warm path, results.

`dispatch/warm_calls.py` is the warm path of jitted and eager calls: a table of generated functions
(`runtime/programs/warm_caller.py`). `dispatch/lru_programs.py` is the LRU cache of a function's programs. On the slow
path the arguments of a call are flattened once (`dispatch/arguments.py`) to tensors and a key, which consists of
interned `TensorSpec` objects and of scalars by type and bits (`atom_key` in `foreign/values.py`).
`dispatch/placement.py` determines the target of the call, and refuses tensors on the host or of several libraries.
`dispatch/results.py` builds the user's results. `dispatch/observers.py` notifies observers of operations.
"""
