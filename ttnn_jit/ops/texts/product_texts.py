"""Ops of texts."""

from __future__ import annotations

TEXTS = ()
