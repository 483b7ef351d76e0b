"""The passes over texts, one per file.

A file has the name of its pass; where this compiler has a pass of that name too, `_texts` follows it.
"""
