"""What a compile may believe of the user's world, and how a later call sees that it is still so.

A read and how a change of it is seen stand in `guards/reads.py`, how another process sees it in
`guards/fingerprints.py`. The rule by which a value is believed at all stands in `foreign/values.py`.
"""
