"""Plans the way from a database's present options to new ones."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rocktune.deploy.effects import Effect, effects
from rocktune.deploy.merging import Differences, differences_of, merged_document
from rocktune.deploy.plan import LevelBytes, PlannedChange, Rewrite, RolloutPlan, Way
from rocktune.deploy.running import RunningStore
from rocktune.deploy.watched import watched_text
from rocktune.device import DeviceSpec
from rocktune.engine.base import RunFailed
from rocktune.importing import LinkedRocksDb, OptionsDocument
from rocktune.space import OptionMaps, family_section
from rocktune.space.options import SECTIONS

BLOCK_CACHE = ("table", "block_cache")
RATE_LIMITER = ("db", "rate_limiter_bytes_per_sec")
WRITE_BUFFERS = ("db", "db_write_buffer_size")
_CALLS = {
    BLOCK_CACHE: "Cache::SetCapacity",
    RATE_LIMITER: "RateLimiter::SetBytesPerSecond",
    WRITE_BUFFERS: "WriteBufferManager::SetBufferSize",
}
"""Options that are changed through an object that the application has, by section and name."""
_NEEDS_OBJECT = "only if the application opened the database with one"
_STEPS = ("capacities that shrink", "SetDBOptions", "SetOptions", "capacities that grow")
"""The live steps. Memory shrinks before other memory grows; a family's options change together, so that its
triggers widen before or while compactions are held."""
_LAST_STEP = {Way.REOPEN: len(_STEPS) + 1, Way.REWRITE: len(_STEPS) + 2, Way.IMPOSSIBLE: len(_STEPS) + 3}


@dataclass(frozen=True)
class RunningRocksDb:
    """The RocksDB that says what a database takes.

    Attributes:
        linked: the installed RocksDB of the database's version, or the nearest one.
        mutable: names of the options that an open database takes, by section.
        refusal: returns why a watcher would refuse a file, from the present options and the file's text;
            empty if it would take it.
    """

    linked: LinkedRocksDb
    mutable: Mapping[str, frozenset[str]]
    refusal: Callable[[OptionMaps, str], str]

    def takes(self, section: str, name: str) -> bool:
        """Returns whether an open database takes an option, by a call or through an object."""
        return name in self.mutable[section] or (section, name) in _CALLS


def plan_of(
    store: RunningStore,
    wanted: OptionsDocument,
    rocksdb: RunningRocksDb,
    is_open: bool,
    device: DeviceSpec | None = None,
) -> RolloutPlan:
    """Returns the plan that brings a database to new options. Reads and writes no file.

    Options that the new file leaves out keep their present values.

    Args:
        store: the database.
        wanted: the new options: a whole OPTIONS file, or only what changes.
        rocksdb: the RocksDB that says what the database takes.
        is_open: True if a process has the database open.
        device: the device of the database, for the time that rewriting takes.

    Raises:
        OptionsFileError: a value cannot be honoured, or the file has a column family that the database lacks.
    """
    found = differences_of(store.options, merged_document(store.options, wanted), wanted, rocksdb.linked)
    changes = [
        _planned(store, found, rocksdb, device, (section, family, name))
        for section, family, name in found.values
    ]
    live = _live(found, rocksdb)
    refused, untried = _refusal(found.present, live, rocksdb)
    order = list(SECTIONS)
    changes.sort(key=lambda each: (each.step, order.index(each.section), each.family, each.name))
    return RolloutPlan(
        directory=str(store.directory),
        present=store.options.path,
        wanted=wanted.path,
        rocksdb_version=store.options.rocksdb_version,
        asked_version=rocksdb.linked.version,
        is_open=is_open,
        changes=_renumbered(changes),
        left_out=found.left_out,
        live=live,
        refused=refused,
        notes=(*_notes(store, rocksdb, changes), *untried),
    )


def _planned(
    store: RunningStore,
    found: Differences,
    rocksdb: RunningRocksDb,
    device: DeviceSpec | None,
    place: tuple[str, str, str],
) -> PlannedChange:
    """Returns the change of one option, with the number of the general step."""
    section, family, name = place
    before, after = found.values[place]
    effect = effects().get(f"{section}.{name}", Effect(f"{section}.{name}", ""))
    levels = store.levels.get(family, ())
    is_taken = place in found.wanted and rocksdb.takes(section, name)
    way = _way(effect, is_taken, (section, name), before, after, levels)
    notes = [effect.note, found.why.get(place, "")]
    rewrite = None
    if way is Way.REWRITE:
        rewrite = _rewrite(store, levels, device)
    elif effect.new_files:
        rewrite = _rewrite(store, levels, device)
        notes.append("only tables written from then on have it")
    if way is Way.LIVE and (section, name) in _CALLS:
        notes.append(_NEEDS_OBJECT)
    step, by = _step(section, name, before, after) if way is Way.LIVE else (_LAST_STEP[way], "")
    return PlannedChange(
        step=step,
        way=way,
        section=section,
        family=family,
        name=name,
        before=before,
        after=after,
        by=by,
        note="; ".join(note for note in notes if note),
        rewrite=rewrite,
    )


def _way(
    effect: Effect,
    is_taken: bool,
    option: tuple[str, str],
    before: str,
    after: str,
    levels: tuple[LevelBytes, ...],
) -> Way:
    """Returns how a change takes effect."""
    if effect.way == "impossible":
        return Way.IMPOSSIBLE
    if effect.way == "rewrite":
        fits = option == ("cf", "num_levels") and levels and int(after) > max(each.level for each in levels)
        grows = option == ("cf", "num_levels") and int(after) >= int(before)
        return Way.REOPEN if fits or grows else Way.REWRITE
    # A limit that is off when the database is opened has no object that could be changed.
    if not is_taken or (option == WRITE_BUFFERS and "0" in (before, after)):
        return Way.REOPEN
    return Way.LIVE


def _step(section: str, name: str, before: str, after: str) -> tuple[int, str]:
    """Returns the step of a live change, from 1, and the call that makes it."""
    call = _CALLS.get((section, name))
    if call is not None:
        shrinks = before.isdigit() and after.isdigit() and int(after) < int(before)
        return (1 if shrinks else len(_STEPS)), call
    return (2, _STEPS[1]) if section == "db" else (3, _STEPS[2])


def _rewrite(store: RunningStore, levels: tuple[LevelBytes, ...], device: DeviceSpec | None) -> Rewrite:
    """Returns the cost of rewriting a column family, or all tables if its levels are not known."""
    size = sum(level.size_bytes for level in levels) if levels else store.table_bytes
    bandwidth = device.bandwidth_bytes_s if device is not None else 0
    return Rewrite(
        levels=tuple(level.level for level in levels),
        size_bytes=size,
        space_bytes=size,
        # Each byte is read and written, and the bandwidth is that of both together.
        seconds=2 * size / bandwidth if bandwidth else None,
    )


def _renumbered(changes: list[PlannedChange]) -> tuple[PlannedChange, ...]:
    """Returns the changes with the steps that occur numbered from 1."""
    numbers = {step: number for number, step in enumerate(sorted({each.step for each in changes}), 1)}
    return tuple(each.model_copy(update={"step": numbers[each.step]}) for each in changes)


def _live(found: Differences, rocksdb: RunningRocksDb) -> dict[str, dict[str, str]]:
    """Returns the options of the new file that a watcher is to keep in force, by section.

    All that the file names are among them, changed or not: a watcher gives an option that its file leaves out
    the value back that it had when the watcher started.
    """
    live: dict[str, dict[str, str]] = {}
    for (section, family, name), value in found.wanted.items():
        before = found.values.get((section, family, name), ("", ""))[0]
        is_off = (section, name) == WRITE_BUFFERS and "0" in (before, value)
        if rocksdb.takes(section, name) and not is_off:
            part = section if section == "db" else family_section(section, family)
            live.setdefault(part, {})[name] = value
    return live


def _refusal(
    present: OptionMaps, live: Mapping[str, Mapping[str, str]], rocksdb: RunningRocksDb
) -> tuple[str, tuple[str, ...]]:
    """Returns why a watcher would refuse the live options, and a sentence if that could not be tried.

    The reason is empty if it would take them, or if that could not be tried. Options of objects are left out,
    because only the application knows whether it has them.
    """
    names = {section: {name for part, name in _CALLS if part == section} for section in SECTIONS}
    tried = {
        section: {
            name: value for name, value in options.items() if name not in names[section.partition(":")[0]]
        }
        for section, options in live.items()
    }
    try:
        return rocksdb.refusal(present, watched_text(tried)), ()
    except RunFailed as failure:
        return "", (f"Whether a running program takes the live options was not tried: {failure}",)


def _notes(store: RunningStore, rocksdb: RunningRocksDb, changes: list[PlannedChange]) -> Iterator[str]:
    """Yields the sentences on what the plan assumes."""
    version = store.options.rocksdb_version
    if version and version != rocksdb.linked.version:
        yield (
            f"The database runs RocksDB {version}; which options can be changed says RocksDB "
            f"{rocksdb.linked.version}, the nearest that is installed."
        )
    rewritten = {change.family for change in changes if change.rewrite is not None}
    unknown = sorted(rewritten - store.levels.keys())
    if unknown:
        named = ", ".join(f"'{family}'" for family in unknown)
        yield (
            f"The LOG has no dump with the levels of column family {named}; sizes are those of all tables in "
            f"{store.directory}."
        )
