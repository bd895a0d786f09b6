"""Compares two versions of RocksDB for one OPTIONS file: defaults, meanings, and what happens to the data."""

from collections.abc import Iterator, Mapping

from rocktune.importing.document import Family, OptionsDocument
from rocktune.importing.families import chosen_family
from rocktune.importing.history import (
    DefaultChange,
    default_changes,
    gone_options,
    introductions,
    meaning_changes,
)
from rocktune.importing.history.releases import lies_between, release_lines
from rocktune.importing.history.stores import StoreChange, store_changes
from rocktune.importing.installed import InstalledSide, disagreements, option_leaves
from rocktune.importing.upgrade import Change, ChangeKind, StoreEffect, Upgrade
from rocktune.options_account import Fate
from rocktune.rocksdb_version import RocksDbVersion

_UNUSED = (Fate.WITHOUT_EFFECT, Fate.UNKNOWN, Fate.FOREIGN)


def upgrade_of(
    document: OptionsDocument,
    family: str | None,
    from_version: str,
    to_version: str,
    old: InstalledSide | None = None,
    new: InstalledSide | None = None,
) -> Upgrade:
    """Returns the findings about an upgrade for a file.

    The release history gives the changes between the two versions. Where both sides are installed, their own
    values are compared too, and what the history does not explain is added.

    Args:
        document: the file.
        family: name of the column family; None if the file has only one.
        from_version: the older version, such as "8.5".
        to_version: the newer version.
        old: the installed RocksDB for the older version; None for none.
        new: the installed RocksDB for the newer version; None for none.

    Raises:
        OptionsFileError: the file has several families and none is chosen, or no such family.
    """
    chosen = chosen_family(document, family)
    given = _given(document, chosen)
    changes = [
        *_default_changes(given, from_version, to_version),
        *_meanings(given, from_version, to_version),
        *_gone(given, from_version, to_version),
    ]
    if old is not None and new is not None and not new.refused:
        changes += _unread(old, new, changes)
        changes += _measured(old, new, changes)
    order = list(ChangeKind)
    return Upgrade(
        path=document.path,
        family=chosen.name,
        from_version=from_version,
        to_version=to_version,
        measured_from=old.version if old else "",
        measured_to=new.version if new else "",
        refused=new.refused if new else "",
        changes=tuple(sorted(changes, key=lambda change: (order.index(change.kind), change.path))),
        effects=tuple(_effects(given, changes, from_version, to_version)),
        new_options=tuple(_new_options(from_version, to_version)),
        disagreements=disagreements(old, new) if old and new else (),
    )


def _given(document: OptionsDocument, family: Family) -> dict[str, str]:
    """Returns the file's values by path: of each option, and of each setting inside it."""
    given: dict[str, str] = {}
    for section, options in (("db", document.db), ("cf", family.options), ("table", family.table)):
        for option in options:
            given[f"{section}.{option.name}"] = option.text
            given |= {f"{section}.{path}": text for path, text in option_leaves(option.name, option.text)}
    return given


def _default_changes(given: Mapping[str, str], older: str, newer: str) -> Iterator[Change]:
    """Yields changed defaults of options that the file leaves out, or of which it states the old default."""
    by_path: dict[str, list[DefaultChange]] = {}
    for change in default_changes():
        if lies_between(change.since, older, newer):
            by_path.setdefault(change.path, []).append(change)
    for path, steps in by_path.items():
        before, after = steps[0].before, steps[-1].after
        stated = given.get(path)
        if before == after or (stated is not None and not _same_value(stated, before)):
            continue
        yield Change(
            kind=ChangeKind.NEW_DEFAULT if stated is None else ChangeKind.KEPT,
            section=steps[0].section,
            name=steps[0].name,
            since=", ".join(step.since for step in steps),
            before=before,
            after=after,
            note="; ".join(dict.fromkeys(step.note for step in steps if step.note)),
            source=", ".join(dict.fromkeys(step.source for step in steps)),
        )


def _same_value(stated: str, default: str) -> bool:
    """Returns whether a file's text means a default; people write 0 and 1 for false and true."""
    switches = {"false": "0", "true": "1"}
    return stated == default or stated == switches.get(default)


def _meanings(given: Mapping[str, str], older: str, newer: str) -> Iterator[Change]:
    """Yields the options whose value in the file, or whose absence from it, means something else."""
    for change in meaning_changes():
        if (change.path in given) != change.absent and lies_between(change.since, older, newer):
            yield Change(
                kind=ChangeKind.NEW_MEANING,
                section=change.section,
                name=change.name,
                since=change.since,
                before=given.get(change.path, "left out"),
                note=change.note,
                source=change.source,
            )


def _gone(given: Mapping[str, str], older: str, newer: str) -> Iterator[Change]:
    """Yields the options that the file sets and that the newer version no longer has or uses."""
    for path, gone in gone_options().items():
        if path in given and lies_between(gone.since, older, newer):
            section, _, name = path.partition(".")
            yield Change(
                kind=ChangeKind.RENAMED if gone.now else ChangeKind.GONE,
                section=section,
                name=name,
                since=gone.since,
                before=given[path],
                after=gone.now,
                note=gone.note,
                source=gone.source,
            )


def _unread(old: InstalledSide, new: InstalledSide, known: list[Change]) -> Iterator[Change]:
    """Yields the options that the older RocksDB reads and the newer one does not, unless they are known."""
    if old.read is None or new.read is None:
        return
    named = {change.path for change in known}
    before = {(entry.section, entry.name): entry for entry in old.read.account.entries}
    for entry in new.read.account.entries:
        earlier = before.get((entry.section, entry.name))
        path = f"{entry.section}.{entry.name}"
        was_used = earlier is not None and earlier.fate not in _UNUSED
        if was_used and entry.fate in _UNUSED and not _is_named(path, named):
            yield Change(
                kind=ChangeKind.GONE,
                section=entry.section,
                name=entry.name,
                before=entry.given,
                after=entry.value,
                note=entry.why,
                source=f"RocksDB {new.version} itself",
            )


def _measured(old: InstalledSide, new: InstalledSide, known: list[Change]) -> Iterator[Change]:
    """Yields the options with which the two open the file's store differently, unless that is explained.

    A change of a default outside of the upgrade explains a difference too: an installed version may stand for
    another one.
    """
    explained = {change.path for change in known}
    explained |= {
        change.path for change in default_changes() if lies_between(change.since, old.version, new.version)
    }
    for path in sorted(old.opened.keys() & new.opened.keys()):
        before, after = old.opened[path], new.opened[path]
        if before != after and not _is_named(path, explained):
            section, _, name = path.partition(".")
            yield Change(
                kind=ChangeKind.MEASURED,
                section=section,
                name=name,
                before=before,
                after=after,
                source=f"RocksDB {old.version} and {new.version} themselves",
            )


def _is_named(path: str, names: set[str]) -> bool:
    """Returns whether a path, or the option that it is inside of, is among some names."""
    return any(path == name or path.startswith(f"{name}.") for name in names)


def _effects(
    given: Mapping[str, str], changes: list[Change], older: str, newer: str
) -> Iterator[StoreEffect]:
    """Yields what the upgrade does to the data of the store."""
    gets = {
        change.path: change.after
        for change in changes
        if change.kind in (ChangeKind.NEW_DEFAULT, ChangeKind.MEASURED)
    }
    for effect in store_changes():
        if effect.option:
            holds = gets.get(effect.option) == effect.value and _holds(effect, given)
        else:
            holds = lies_between(effect.since, older, newer)
        if holds:
            yield StoreEffect(
                cause=effect.option or f"RocksDB {effect.since}",
                effect=effect.effect,
                back=effect.back,
                source=effect.source,
            )


def _holds(effect: StoreChange, given: Mapping[str, str]) -> bool:
    """Returns whether the file keeps the condition of an effect; an option that it leaves out does."""
    path, _, value = effect.where.partition("=")
    return given.get(path, value) == value


def _new_options(older: str, newer: str) -> list[str]:
    """Returns the options that came between two versions and are still there, sorted by release."""
    found = [
        (RocksDbVersion.of(release), path, release)
        for path, release in introductions().items()
        if lies_between(release, older, newer) and not _went(path, newer)
    ]
    return [f"{path} ({release})" for _, path, release in sorted(found)]


def _went(path: str, newer: str) -> bool:
    """Returns whether an option has no effect in a version any more."""
    gone = gone_options().get(path)
    return gone is not None and lies_between(gone.since, release_lines()[0], newer)
