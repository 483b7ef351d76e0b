"""How TTIR becomes TTNN and TTNN becomes TTIR, and rules over operations of TTNN: layouts, fusions, addresses."""
