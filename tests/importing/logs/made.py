"""LOG files that tests put together."""

from collections.abc import Callable
from pathlib import Path

from rocktune.importing.logs import LogDocument, Opening, read_log

HERE = Path(__file__).parent
GOLDENS = sorted((HERE / "golden").glob("*.log"))
Write = Callable[..., Path]

_ROW = (
    "      2/1   36.10 MB   0.5      0.0     0.0      0.0       4.8      4.8       0.0   1.0      0.0 "
    "     6.0       820       351    2.336       0      0\n"
)
TABLE = (
    "\n** Compaction Stats [{family}] **\n"
    "Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) "
    "Wr(MB/s) Comp(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop\n"
    f"{'-' * 100}\n  L0{_ROW} Sum{_ROW}"
)
"""A compaction table of RocksDB 5.18; `format` names its family."""


def message(second: float, text: str, thread: str = "7f10a0001700") -> str:
    """Returns a line of a LOG, so many seconds after ten o'clock."""
    whole = int(second)
    clock = f"{10 + whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"2026/03/04-{clock}.{round((second - whole) * 1e6):06} {thread} {text}\n"


def header(second: float, version: str, session: str = "", opens: bool = True) -> str:
    """Returns the first lines of a LOG; without `opens` those that a rolled file repeats."""
    text = message(second, f"RocksDB version: {version}")
    if session:
        text += message(second, f"DB Session ID:  {session}")
    text += message(second, "            Options.max_background_jobs: 2")
    if opens:
        text += message(second, "[db/version_set.cc:3715] Recovered from manifest file:/db/MANIFEST-000004")
    return text


def only(*paths: Path) -> Opening:
    """Returns the one opening of some files."""
    (opening,) = document(*paths).openings
    return opening


def document(*paths: Path) -> LogDocument:
    """Returns all that some files say."""
    return read_log(paths)
