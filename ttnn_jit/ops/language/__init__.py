"""The language of declarations: operations, parameters and their kinds, binding of calls, tile bodies."""
