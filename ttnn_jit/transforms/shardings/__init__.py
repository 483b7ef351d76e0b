"""What a text of StableHLO says of shardings becomes a manual computation.

`stated.py` reads the mesh and the shardings of a function, `propagation.py` finds those of its other values,
`partitioning.py` writes the ops on parts, `part_exchanges.py` the collectives between them. How an op is cut is the
`ShardingRule` of its declaration (`ops/families/sharding_rule.py`).
"""
