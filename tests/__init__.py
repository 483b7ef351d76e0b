"""The tests; `tests.programs` holds programs that several of them compile."""
