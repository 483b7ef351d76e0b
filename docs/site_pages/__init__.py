"""Generated pages of the documentation, for `make site`.

`rooms.py` draws the rooms and their imports and lists the files of each, `calls.py` draws a call, `stages.py` shows a
compile. `commands.py` and `reference.py` document the command line and the API, `programs.py` has the tutorial and the
examples. `pictures.py` draws the pictures.
"""
