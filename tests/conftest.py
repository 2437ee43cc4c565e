"""Settings for all tests."""

from hypothesis import settings

# How long an example takes says something about the machine's load, not about the code.
settings.register_profile("pails", deadline=None)
settings.load_profile("pails")
