"""Pages of the documentation that are made of the code, where the site is built: `make site`.

`rooms.py` draws the rooms and their imports and lists the files of each, `calls.py` follows a call, `stages.py` shows a
compile, `commands.py` and `reference.py` have the command line and the API, and `programs.py` the tutorial and the
examples. `pictures.py` draws.
"""
