"""Operations whose places depend on elements, and random elements."""
