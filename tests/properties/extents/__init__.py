"""Properties of templates: programs for many sizes."""
