"""Facts for rules: the options, stalls and figures of an opening, by name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rocktune.analysis.explain.busy import Busy, busy
from rocktune.analysis.explain.finding import StallKey
from rocktune.analysis.explain.held import Held, HeldUp, held_up
from rocktune.importing import OptionsDocument
from rocktune.importing.document import Option, SubOption
from rocktune.importing.logs import FamilyStats, Opening, OptionChange, StallCause
from rocktune.importing.logs.printed import number
from rocktune.importing.values import UnbalancedBracesError, parts_of

UNIVERSAL = "kCompactionStyleUniversal"
_TABLES = ("block_based_table_factory", "table_factory")
"""Names under which a program sets options of its tables."""
_MAX_NUMBER = 2.0**64
"""No option and no size of a sound LOG is larger."""


@dataclass(frozen=True)
class Facts:
    """An opening, and the OPTIONS file for what the LOG does not state.

    Attributes:
        opening: what the LOG says.
        options_file: the user's OPTIONS file; None without one.
    """

    opening: Opening
    options_file: OptionsDocument | None = None

    @cached_property
    def held(self) -> HeldUp:
        """How long writes were held up, by cause."""
        return held_up(self.opening)

    @cached_property
    def busy(self) -> Busy:
        """How busy flushes and compactions were."""
        return busy(self.opening)

    @cached_property
    def tickers(self) -> dict[str, int]:
        """Counters of the statistics object, without the prefix "rocksdb."; empty if they were not dumped."""
        return {name.removeprefix("rocksdb."): count for name, count in self.opening.tickers}

    @cached_property
    def last_stats(self) -> dict[str, FamilyStats]:
        """The last compaction table of each family."""
        return {family.family: family for dump in self.opening.dumps for family in dump.families}

    @cached_property
    def store_bytes(self) -> float:
        """Size of all tables in the last compaction tables; 0 if there are no tables."""
        return min(sum(stats.size_bytes or 0.0 for stats in self.last_stats.values()), _MAX_NUMBER)

    @property
    def families(self) -> tuple[str, ...]:
        """Names of the column families; 'default' for an excerpt without names."""
        return self.opening.families or ("default",)

    def causes(self, *kinds: StallCause) -> tuple[Held, ...]:
        """Returns the causes of these kinds."""
        return tuple(held for held in self.held.causes if held.stall.cause in kinds)

    def text(self, name: str, family: str | None = None) -> str | None:
        """Returns an option's last value: as the program set it, at the opening, or in the OPTIONS file.

        Args:
            name: RocksDB's name, with the prefix "table." for the table format's options.
            family: the column family; None for the database.
        """
        for change in reversed(self.opening.changes):
            if change.family in (family, None) and (set_value := _set(change, name)) is not None:
                return set_value
        value = self.opening.option(name, family)
        return self._filed(name, family) if value is None else value

    def number(self, name: str, family: str | None = None) -> float | None:
        """Returns an option that is a number; None if it is unknown or none."""
        text = self.text(name, family)
        found = None if text is None else number(text.strip())
        return found if found is None or abs(found) <= _MAX_NUMBER else None

    def is_on(self, name: str, family: str | None = None) -> bool:
        """Returns whether an option is known to be true."""
        return (self.text(name, family) or "").strip().lower() in ("1", "true")

    def pairs(self, *names: str) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Yields each family with the values of options that it has all of."""
        for family in self.families:
            values = [self.number(name, family) for name in names]
            if all(value is not None for value in values):
                yield family, tuple(value for value in values if value is not None)

    def compressions(self, family: str) -> tuple[str, ...]:
        """Returns the family's compressions from level 0 on; one if all levels have it, empty if unknown."""
        per_level = self._filed("compression_per_level", family)
        if per_level:
            return tuple(name for name in per_level.split(":") if name)
        levels = {
            each.name: each.value
            for each in self.opening.options
            if each.name.startswith("compression[") and each.family in (family, None)
        }
        whole = self.text("compression", family)
        return tuple(levels.values()) or (() if whole is None else (whole,))

    @cached_property
    def compaction_threads(self) -> int | None:
        """Compactions that may run at a time, as RocksDB derives them; None if the options are unknown."""
        limits = self._job_limits()
        return None if limits is None else limits[1]

    @cached_property
    def flush_threads(self) -> int | None:
        """Flushes that may run at a time; None if the options are unknown."""
        limits = self._job_limits()
        return None if limits is None else limits[0]

    def _job_limits(self) -> tuple[int, int] | None:
        """Returns flushes and compactions at a time, as DBImpl::GetBGJobLimits has them."""
        jobs = self.number("max_background_jobs")
        flushes = self.number("max_background_flushes")
        compactions = self.number("max_background_compactions")
        flushes = -1 if flushes is None else flushes
        compactions = -1 if compactions is None else compactions
        if flushes == -1 and compactions == -1:
            if jobs is None:
                return None
            first = max(1, int(jobs) // 4)
            return first, max(1, int(jobs) - first)
        return max(1, int(flushes)), max(1, int(compactions))

    def _filed(self, name: str, family: str | None) -> str | None:
        """Returns an option of the OPTIONS file."""
        document = self.options_file
        if document is None:
            return None
        found = _named(document.db)
        for each in document.families:
            if each.name == (family or "default"):
                found |= _named(each.options)
                found |= {f"table.{option.name}": option.text for option in each.table}
        return found.get(name)


def _named(options: Iterable[Option | SubOption]) -> dict[str, str]:
    """Returns the values of options, and of the settings in their braces by the name `option.setting`."""
    found = {}
    for option in options:
        found[option.name] = option.text
        found |= {f"{option.name}.{part.name}": part.text for part in option.parts}
    return found


def _set(change: OptionChange, name: str) -> str | None:
    """Returns the value that a change gives to an option, perhaps in braces; None for another option."""
    option = "table" if change.name in _TABLES else change.name
    if option == name:
        return change.value
    if not name.startswith(f"{option}."):
        return None
    try:
        parts = parts_of(change.value)
    except UnbalancedBracesError:
        return None
    return next((part.text for part in parts if f"{option}.{part.name}" == name), None)


def keys_of(causes: tuple[Held, ...]) -> frozenset[StallKey]:
    """Returns the keys of causes, for `Finding.covers`."""
    return frozenset(held.key for held in causes)


def share_of(causes: tuple[Held, ...]) -> float | None:
    """Returns the share of the time of causes together; None if it is unknown."""
    known = [held.share for held in causes if held.share is not None]
    return min(1.0, sum(known)) if known else None
