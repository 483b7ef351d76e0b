"""Where compiled programs wait to be run again: by key in memory and on disk, with counters.

The disk is asked in two levels (`cache/disk.py`: entries, and how many bytes they may take; `cache/folder.py` judges
the folder). A *manifest* (`cache/manifest.py`) is found with what the compile is told (`cache/key.py`), without loading
the compiler; the *content* level with what the parsed program says, locations aside (`dialects/text/content.py`), so
that moving a function down a line costs a parse and no more. `cache/contents.py` looks at a folder for the command
line.
"""
