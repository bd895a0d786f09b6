"""The files in golden/, and comparing their values."""

from pathlib import Path

GOLDENS = sorted((Path(__file__).parent / "golden").glob("OPTIONS-*"))


def same_value(text: str, other: str) -> bool:
    """Returns whether two values are the same text or the same number."""
    if text == other:
        return True
    try:
        return float(text) == float(other)
    except ValueError:
        return False
