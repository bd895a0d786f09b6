"""Reading the LOG files that RocksDB writes beside its data."""

from rocktune.importing.logs.document import LeftOut, LogDocument, Message, Opening
from rocktune.importing.logs.flat import CSV_KINDS, SeriesPoint, csv_text, series
from rocktune.importing.logs.jobs import Compaction, FamilyWork, Flush, LevelsPoint
from rocktune.importing.logs.lines import LogFileError
from rocktune.importing.logs.options import LoggedOption, OptionChange
from rocktune.importing.logs.reading import looks_like_log, read_last_dumps, read_log, read_log_after
from rocktune.importing.logs.stalls import StallCause, StallPeriod, StallSummary
from rocktune.importing.logs.stats import DbStats, Dump, FamilyStats, Histogram, Traffic
from rocktune.importing.logs.tables import LevelRow
from rocktune.importing.logs.tail import DumpMark

__all__ = [
    "CSV_KINDS",
    "Compaction",
    "DbStats",
    "Dump",
    "DumpMark",
    "FamilyStats",
    "FamilyWork",
    "Flush",
    "Histogram",
    "LeftOut",
    "LevelRow",
    "LevelsPoint",
    "LogDocument",
    "LogFileError",
    "LoggedOption",
    "Message",
    "Opening",
    "OptionChange",
    "SeriesPoint",
    "StallCause",
    "StallPeriod",
    "StallSummary",
    "Traffic",
    "csv_text",
    "looks_like_log",
    "read_last_dumps",
    "read_log",
    "read_log_after",
    "series",
]
