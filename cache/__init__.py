"""The caches of compiled programs, in memory and on disk, and their counters.

`cache/disk.py` stores entries and limits their bytes; `cache/folder.py` checks that the folder can be trusted. A
look-up on disk has two levels. The key of a *manifest* (`cache/manifest.py`) is made of the arguments of the compile
(`cache/key.py`), so this level does not load the compiler. The *content* key is made of the parsed program without
locations (`dialects/text/content.py`), so moving a function down a line costs a parse and no compile.
`cache/contents.py` inspects a folder for the command line.
"""
