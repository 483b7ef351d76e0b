"""Operations whose indices depend on elements (gather, scatter, sort, embedding), and random numbers."""
