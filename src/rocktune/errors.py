"""The exceptions for errors that a user can mend, and the error for a misspelled name."""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """An error in the user's input.

    Its message is one line that says what is wrong, where, and how to mend it. The command line prints it
    and exits with 2.
    """


class TransientError(UserError):
    """A UserError that may be gone later with the same input, such as a lack of memory or of disk space.

    Unattended processes try again.
    """


class BudgetTooSmallError(UserError):
    """A memory budget that no configuration of a space fits.

    Attributes:
        min_bytes: the smallest budget that one fits.
    """

    def __init__(self, message: str, min_bytes: int) -> None:
        """Sets the message and the smallest sufficient budget."""
        super().__init__(message)
        self.min_bytes = min_bytes


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> UserError:
    """Returns the error for a name that is not among `valid`.

    The message suggests the nearest valid name. It lists the first 12 valid names if none is near.

    Args:
        kind: what the name stands for, in the user's words ("device", "option").
        name: the unknown name.
        valid: all valid names.
    """
    names = sorted(valid)
    # Below difflib's default of 0.6, so that a name of four letters with two wrong still gets a suggestion.
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if nearest:
        return UserError(f"unknown {kind} '{name}': did you mean '{nearest[0]}'?")
    return UserError(
        f"unknown {kind} '{name}': use one of {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
    )
