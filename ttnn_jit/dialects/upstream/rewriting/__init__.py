"""What operations of texts become, by their names: the mechanism here, the rules in `ttir_rules` and `ttnn_rules`.

`rewriter.py` writes operations in the form of one version, `greedy.py` applies rules until nothing changes, and
`made_attributes.py` makes attributes. A rule takes an operation and a rewriter, and says whether it applied. The passes
over texts (`transforms/texts`) choose the rules, and name no operation.
"""
