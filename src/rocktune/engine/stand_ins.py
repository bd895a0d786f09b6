"""Names versions of RocksDB, and finds the one that stands for a version that cannot be had."""

from collections.abc import Collection

from rocktune.errors import UserError
from rocktune.importing.history.releases import nearest_line, release_lines
from rocktune.rocksdb_version import RocksDbVersion


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
        raise UserError(f"{where}: rocktune knows no RocksDB {text}; the nearest is {nearest_line(version)}")
    return version


def line_of(version: RocksDbVersion) -> str:
    """Returns the release line of a version, such as "8.5"."""
    return ".".join(map(str, version.parts[:2]))


def stand_in(
    wanted: RocksDbVersion, installed: Collection[RocksDbVersion], buildable: Collection[RocksDbVersion]
) -> RocksDbVersion | None:
    """Returns the version that is nearest to another one, by release lines; None if there is none at all.

    Among equally near ones it is one that is installed, then the newest.

    Args:
        wanted: the version to stand for.
        installed: versions that are installed.
        buildable: versions that can be built.
    """
    lines = release_lines()
    position = lines.index(line_of(wanted))

    def distance(version: RocksDbVersion) -> tuple[bool, int, bool, tuple[int, ...]]:
        line = line_of(version)
        steps = abs(lines.index(line) - position) if line in lines else len(lines)
        newest_first = tuple(-part for part in version.parts)
        return not wanted.includes(version), steps, version not in installed, newest_first

    return min({*installed, *buildable}, key=distance, default=None)
