"""Numbers of a compile that holds for many sizes: expressions with a value, and the comparisons that it depends on."""
