"""Operations whose indices depend on elements, and random elements."""
