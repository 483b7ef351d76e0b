"""The tests; `tests.programs` holds what several of them compile."""
