"""Every template of these tests is checked."""

from tests.checked_templates import checked_templates

__all__ = ["checked_templates"]
