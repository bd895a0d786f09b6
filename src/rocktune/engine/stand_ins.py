"""Names versions of RocksDB, and finds the one that stands for a version that cannot be had."""

from collections.abc import Collection

from rocktune.engine.libraries import RocksDbVersion
from rocktune.errors import UserError
from rocktune.importing.history import default_changes, meaning_changes
from rocktune.importing.history.releases import lies_between, nearest_line, release_lines


def known_version(text: str, where: str) -> RocksDbVersion:
    """Returns the version that a text such as "8.5" or "8.5.3" names.

    Args:
        text: the text.
        where: who gives it, for the message, such as "--from".

    Raises:
        UserError: the text is no version, or RocksDB has no such release line; names the nearest one.
    """
    version = RocksDbVersion.parse(text)
    if version is None:
        raise UserError(f"{where}: '{text}' is not a version; write one such as {release_lines()[-1]}")
    if line_of(version) not in release_lines():
        raise UserError(f"{where}: rocktune knows no RocksDB {text}; the nearest is {nearest_line(text)}")
    return version


def line_of(version: RocksDbVersion) -> str:
    """Returns the release line of a version, such as "8.5"."""
    return ".".join(map(str, version.parts[:2]))


def stand_in(
    wanted: RocksDbVersion, installed: Collection[RocksDbVersion], buildable: Collection[RocksDbVersion]
) -> RocksDbVersion | None:
    """Returns the version that behaves most like another one; None if there is none at all.

    It is the one with the fewest changes of defaults and meanings between the two; among equals one that is
    installed, then the nearest line, then the newest patch.

    Args:
        wanted: the version to stand for.
        installed: versions that are installed.
        buildable: versions that can be built.
    """
    lines = release_lines()
    position = lines.index(line_of(wanted))

    def distance(version: RocksDbVersion) -> tuple[int, bool, int, tuple[int, ...]]:
        line = line_of(version)
        steps = abs(lines.index(line) - position) if line in lines else len(lines)
        patch = tuple(-part for part in version.parts)
        return len(changes_between(wanted, version)), version not in installed, steps, patch

    return min({*installed, *buildable}, key=distance, default=None)


def changes_between(one: RocksDbVersion, other: RocksDbVersion) -> list[str]:
    """Returns the changes of defaults and meanings between two versions, each as "cf.compression (11.5)"."""
    older, newer = sorted((one, other))
    changes = [(change.since, change.path) for change in default_changes()]
    changes += [(change.since, change.path) for change in meaning_changes()]
    return [f"{path} ({since})" for since, path in changes if lies_between(since, str(older), str(newer))]
