"""The parts of RocksDB's LOG files that rocktune reads."""

from dataclasses import dataclass
from datetime import datetime

from rocktune.importing.logs.jobs import Compaction, FamilyWork, Flush, LevelsPoint
from rocktune.importing.logs.options import LoggedOption, OptionChange
from rocktune.importing.logs.stalls import StallPeriod, StallSummary
from rocktune.importing.logs.stats import Dump, Histogram


@dataclass(frozen=True, slots=True)
class Message:
    """A warning or an error.

    Attributes:
        time: when it was written; None in text without times.
        level: WARN, ERROR or FATAL.
        text: at most 500 characters.
    """

    time: datetime | None
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Items that were read and not kept, so that memory stays bounded. Sums and summaries have them all.

    Attributes:
        what: name of the items.
        kept: how many are kept.
        total: how many there were.
    """

    what: str
    kept: int
    total: int


@dataclass(frozen=True, slots=True)
class Opening:
    """What the LOG says between one opening of a database and the next.

    Attributes:
        product: "RocksDB" or "Speedb".
        version: such as "9.9.3"; "" if the LOG begins later.
        rocksdb_version: of the RocksDB that Speedb is made from, "" if unknown; for RocksDB `version` again.
        session: RocksDB's identifier of the opening; "" before RocksDB 6.13.
        begins: whether the LOG has the beginning of the opening.
        first: time of the first message; None in text without times.
        last: time of the last message.
        options: in force at the opening.
        changes: options that the program set later, without those of refused calls.
        failed_changes: calls to set options that RocksDB refused.
        families: names of the column families, in the order in which they appear.
        dumps: dumps of statistics.
        tickers: name and last value of each counter of the statistics object.
        histograms: the last histograms of the statistics object.
        stalls: delays and stops of writes, summed up.
        stall_periods: delays and stops, each.
        work: flushes and compactions, summed up.
        flushes: flushes, each.
        compactions: compactions, each.
        levels: files by level over time.
        messages: warnings and errors other than delays and stops.
        warnings: number of warnings other than delays and stops.
        errors: number of errors.
        left_out: what was not kept.
        unread: sentences on lines that look known and could not be read.
        directory: the database's directory where it was opened; "" if the LOG begins later.
    """

    product: str
    version: str
    rocksdb_version: str
    session: str
    begins: bool
    first: datetime | None
    last: datetime | None
    options: tuple[LoggedOption, ...]
    changes: tuple[OptionChange, ...]
    failed_changes: int
    families: tuple[str, ...]
    dumps: tuple[Dump, ...]
    tickers: tuple[tuple[str, int], ...]
    histograms: tuple[Histogram, ...]
    stalls: tuple[StallSummary, ...]
    stall_periods: tuple[StallPeriod, ...]
    work: tuple[FamilyWork, ...]
    flushes: tuple[Flush, ...]
    compactions: tuple[Compaction, ...]
    levels: tuple[LevelsPoint, ...]
    messages: tuple[Message, ...]
    warnings: int
    errors: int
    left_out: tuple[LeftOut, ...]
    unread: tuple[str, ...]
    directory: str = ""

    @property
    def seconds(self) -> float | None:
        """Seconds from the first to the last message; None in text without times."""
        if self.first is None or self.last is None:
            return None
        return max(0.0, (self.last - self.first).total_seconds())

    def option(self, name: str, family: str | None = None) -> str | None:
        """Returns the value of an option at the opening.

        Args:
            name: RocksDB's name.
            family: the column family; None for the database.

        Returns:
            None if the LOG does not state it for this family, nor without a family.
        """
        found = {each.family: each.value for each in self.options if each.name == name}
        return found.get(family, found.get(None))


@dataclass(frozen=True, slots=True)
class LogDocument:
    """All that LOG files say.

    Attributes:
        files: the files, in the order of their times.
        lines: number of lines.
        openings: in the order of the LOG.
        notes: sentences on how the files were read.
    """

    files: tuple[str, ...]
    lines: int
    openings: tuple[Opening, ...]
    notes: tuple[str, ...]
