"""Options that a file leaves out and whose default is not that of the RocksDB that measures."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from rocktune.importing.decisions import Decision
from rocktune.importing.document import OptionsDocument
from rocktune.importing.examination import LinkedRocksDb
from rocktune.importing.history import (
    DefaultChange,
    default_changes,
    default_differences,
    gone_options,
    introduced_in,
)
from rocktune.options_account import ChangedDefault
from rocktune.rocksdb_version import RocksDbVersion

_MAX_NAMED = 8
_DERIVED_FROM = {("cf", "arena_block_size"): ("cf", "write_buffer_size")}


def changed_defaults(
    decisions: Iterable[Decision], document: OptionsDocument, linked: LinkedRocksDb
) -> tuple[ChangedDefault, ...]:
    """Returns the options that the file leaves out and that have another default elsewhere.

    Elsewhere is the RocksDB that the file names. If it names none, elsewhere is any release from 4.3 to 11.8;
    options that changed last come first.
    """
    measuring = RocksDbVersion.parse(linked.version)
    if measuring is None:
        return ()
    own = RocksDbVersion.parse(document.rocksdb_version)
    found = _anywhere(measuring) if own is None else _between(own, measuring)
    given = _given(decisions)
    return tuple(each for each in found if _is_left_out(each, given, linked))


def note_of(changed: tuple[ChangedDefault, ...], file_version: str, measuring: str) -> Iterator[str]:
    """Yields the sentence about these options; nothing if there are none."""
    if not changed:
        return
    rest = len(changed) - _MAX_NAMED
    others = f" and {rest} more" if rest > 0 else ""
    end = f"; rocktune measures with the defaults of {measuring}."
    if RocksDbVersion.parse(file_version):
        named = ", ".join(f"{each.name} ({each.other} -> {each.used})" for each in changed[:_MAX_NAMED])
        yield f"Left out, and changed from RocksDB {file_version} to {measuring}: {named}{others}{end}"
    else:
        named = ", ".join(f"{each.name} ({each.other} {each.releases})" for each in changed[:_MAX_NAMED])
        yield (
            f"Left out, and not the same in every RocksDB: {named}{others}{end} "
            "The file does not name its RocksDB (rocksdb_version in [Version])."
        )


def _between(own: RocksDbVersion, measuring: RocksDbVersion) -> Iterator[ChangedDefault]:
    for each in default_differences(own, measuring):
        if _had(own, f"{each.section}.{each.name}"):
            yield ChangedDefault(
                section=each.section, name=each.name, used=each.second, other=each.first, releases=str(own)
            )


def _had(release: RocksDbVersion, path: str) -> bool:
    """Returns whether a release has an option: a file of another one cannot leave it out."""
    # Older releases wrote the settings of compression_opts as numbers between colons.
    own_name = path.rpartition(".")[0] if path.startswith("cf.compression_opts.") else path
    introduced, gone = introduced_in(own_name), gone_options().get(path)
    came = introduced is not None and RocksDbVersion.of(introduced) <= release
    return came and (gone is None or release < RocksDbVersion.of(gone.since))


def _anywhere(measuring: RocksDbVersion) -> list[ChangedDefault]:
    """Returns each option with its default after the next change, or before the last one if none follows."""
    found = []
    for _, changes in groupby(default_changes(), lambda each: (each.section, each.name)):
        known = list(changes)
        later = [each for each in known if RocksDbVersion.of(each.since) > measuring]
        found.append((known[-1], later[0] if later else known[-1], bool(later)))
    found.sort(key=lambda each: RocksDbVersion.of(each[0].since), reverse=True)
    return [_one_side(change, is_later) for _, change, is_later in found]


def _one_side(change: DefaultChange, is_later: bool) -> ChangedDefault:
    return ChangedDefault(
        section=change.section,
        name=change.name,
        used=change.before if is_later else change.after,
        other=change.after if is_later else change.before,
        releases=f"{'since' if is_later else 'before'} {change.since}",
    )


def _given(decisions: Iterable[Decision]) -> set[tuple[str, str]]:
    """Returns the options of the file, those they became, and the settings inside them."""
    given = set()
    for each in decisions:
        given.add((each.section, each.option.name))
        given |= {(each.section, f"{each.option.name}.{part.name}") for part in each.option.parts}
        if each.target is not None:
            given.add(each.target)
    return given


def _is_left_out(changed: ChangedDefault, given: set[tuple[str, str]], linked: LinkedRocksDb) -> bool:
    key = (changed.section, changed.name)
    option, _, part = changed.name.partition(".")
    known = linked.knows(changed.section, option)
    if part:
        known = part in linked.default_parts(changed.section, option)
    # A block cache that the file leaves out is made by rocktune, with settings of its own.
    return known and option != "block_cache" and key not in given and _DERIVED_FROM.get(key) not in given
