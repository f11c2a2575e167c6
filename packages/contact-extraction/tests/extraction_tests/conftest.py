"""How examples are tried when the package is tested alone."""

from hypothesis import settings

# A busy machine is slow, not wrong: no example has a deadline.
settings.register_profile("extraction", deadline=None)
if settings.get_current_profile_name() == "default":
    settings.load_profile("extraction")
