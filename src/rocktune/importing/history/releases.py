"""The release lines of RocksDB from 4.3 to the newest one that the history covers."""

from rocktune.importing.history import release_order

_FIRST = (4, 3)
_LAST_MINORS = {4: 13, 5: 18, 6: 29, 7: 10, 8: 11, 9: 11, 10: 11, 11: 8}
"""The last minor release of each major one."""


def release_lines() -> tuple[str, ...]:
    """Returns the release lines, such as "8.11", oldest first."""
    return tuple(
        f"{major}.{minor}"
        for major, last in _LAST_MINORS.items()
        for minor in range(last + 1)
        if (major, minor) >= _FIRST
    )


def nearest_line(version: str) -> str:
    """Returns the release line of a version, or the nearest one if there is no such line.

    Args:
        version: such as "8.5" or "8.5.3"; a major number alone stands for its last line.
    """
    order = release_order(version)
    major = min(max(order[0], _FIRST[0]), max(_LAST_MINORS))
    if major != order[0]:
        return release_lines()[0 if order[0] < major else -1]
    minor = min(order[1] if len(order) > 1 else _LAST_MINORS[major], _LAST_MINORS[major])
    return f"{major}.{max(minor, _FIRST[1]) if major == _FIRST[0] else minor}"


def lies_between(release: str, older: str, newer: str) -> bool:
    """Returns whether a release line is newer than `older`, and no newer than `newer`, without patches."""
    return release_order(older)[:2] < release_order(release)[:2] <= release_order(newer)[:2]
