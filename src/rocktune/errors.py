"""The one exception for whatever a user can mend, and the nearest-name suggestion that goes with it."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Bad input: one line that says what is wrong, where, and how to mend it. The CLI exits with 2."""


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> UserError:
    """Returns the error for a name that is none of `valid`, with the nearest valid one suggested.

    Args:
        kind: what the name should have been, as the user calls it ("device", "option").
        name: what was given.
        valid: every name that would have been right.
    """
    names = sorted(valid)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if nearest:
        return UserError(f"unknown {kind} '{name}': did you mean '{nearest[0]}'?")
    return UserError(
        f"unknown {kind} '{name}': one of {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
    )
