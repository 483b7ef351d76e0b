"""Damaged upstream texts are refused with one line and its place, never by another exception."""

from __future__ import annotations

import random

import pytest

from tests.upstream_texts import FORMS, TTIR, TTNN
from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.dialects.verifier import InvalidModule

TEXTS = [TTIR, TTNN, *FORMS.values()]
SNIPPETS = ["<<", "((((", "dense<", "9" * 30, "%x", "#y", "loc(", "tensor<", "-", "{", "->", "é", '"', "\\", "//"]


def damaged(text, rng):
    """`text` cut, or with some characters changed."""
    if rng.random() < 0.2:
        return text[: rng.randrange(len(text))]
    letters = list(text)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(letters))
        change = rng.randrange(4)
        if change == 0:
            del letters[at : at + rng.randrange(1, 8)]
        elif change == 1:
            letters[at] = rng.choice('<>(){}[]"%#!@^:,=-0123456789abcx. \n/\\')
        elif change == 2:
            start = rng.randrange(len(letters))
            letters[at:at] = letters[start : start + rng.randrange(1, 30)]
        else:
            letters[at:at] = rng.choice(SNIPPETS)
        letters = letters or [" "]
    return "".join(letters)


def refusal(text):
    """The error of a text; None if it is valid."""
    try:
        module = parse_upstream(text, "damaged.mlir")
        verify_upstream(module)
    except InvalidModule as error:
        return error
    print_module(module)
    return None


@pytest.mark.parametrize("seed", range(len(TEXTS)))
def test_a_damaged_text_is_refused_with_one_line_at_its_place(seed):
    rng = random.Random(seed)
    errors = [refusal(damaged(TEXTS[seed], rng)) for _ in range(40)]
    refused = [error for error in errors if error is not None]
    assert len(refused) > 10
    assert all(error.location is not None and "\n" not in error.message for error in refused)
