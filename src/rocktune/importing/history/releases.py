"""The release lines of RocksDB from 4.3 to the newest one that the history covers, and their order."""

from rocktune.rocksdb_version import RocksDbVersion

_FIRST = (4, 3)
_LAST_MINORS = {4: 13, 5: 18, 6: 29, 7: 10, 8: 11, 9: 11, 10: 11, 11: 8}
"""The last minor release of each major one."""
_NEWEST_PATCH = 1 << 30


def release_lines() -> tuple[str, ...]:
    """Returns the release lines, such as "8.11", oldest first."""
    return tuple(
        f"{major}.{minor}"
        for major, last in _LAST_MINORS.items()
        for minor in range(last + 1)
        if (major, minor) >= _FIRST
    )


def nearest_line(version: RocksDbVersion) -> str:
    """Returns the release line of a version, or the nearest one if there is no such line.

    Args:
        version: a major number alone stands for its last line.
    """
    major, *rest = version.parts
    if major not in _LAST_MINORS:
        return release_lines()[0 if major < _FIRST[0] else -1]
    minor = min(rest[0] if rest else _LAST_MINORS[major], _LAST_MINORS[major])
    return f"{major}.{max(minor, _FIRST[1]) if major == _FIRST[0] else minor}"


def lies_between(release: str, older: str, newer: str) -> bool:
    """Returns whether an upgrade from a version to another one passes a release.

    Args:
        release: a release line, or a patch of it if the change came with a patch ("8.6.1").
        older: the version before; without a patch it stands for the newest one of its line.
        newer: the version after; see `older`.
    """
    return _newest(older) < RocksDbVersion.of(release) <= _newest(newer)


def _newest(version: str) -> RocksDbVersion:
    """Returns the newest patch of a line, or the version itself if it names a patch."""
    parts = RocksDbVersion.of(version).parts
    return RocksDbVersion(parts if len(parts) > 2 else (*parts, _NEWEST_PATCH))
