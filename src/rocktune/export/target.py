"""The interface of export targets, and the comments at the head of each exported text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from textwrap import TextWrapper

from rocktune.ledger import StudyRecord
from rocktune.space import OptionMaps
from rocktune.space.options_file import options_by_family
from rocktune.workload import WorkloadSpec

_BULLET = TextWrapper(
    100, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)


@dataclass(frozen=True)
class Found:
    """A configuration to export, with its study.

    Attributes:
        options: RocksDB options at full size.
        comment: lines about the study and its proof, without comment signs.
        rocksdb_version: version of the measured RocksDB.
        study: record of the study.
    """

    options: OptionMaps
    comment: tuple[str, ...]
    rocksdb_version: str
    study: StudyRecord

    @property
    def family(self) -> str:
        """Name of the column family of sections "cf" and "table"."""
        return str(self.study.spec.get("column_family") or "default")

    @property
    def families(self) -> dict[str, OptionMaps]:
        """The sections "cf" and "table" of each column family, by name."""
        return options_by_family(self.options, self.family)

    @property
    def workload(self) -> WorkloadSpec:
        """The measured workload at full size."""
        return WorkloadSpec.model_validate(self.study.spec["workload"])


@dataclass(frozen=True)
class Target:
    """An export format.

    Attributes:
        name: name for users.
        summary: one line about it.
        write: returns the exported text; raises UserError if the format cannot express the configuration at
            all.
        holds_cache_settings: whether the format accepts RocksDB's whole text of `block_cache`; otherwise it
            gets only the capacity.
        holds_families: whether the format has options of several column families; otherwise it gets only the
            tuned one's.
    """

    name: str
    summary: str
    write: Callable[[Found], str]
    holds_cache_settings: bool = False
    holds_families: bool = False


def one_line(text: str) -> str:
    """Returns text that cannot leave a comment: one line, printable, with slashes for backslashes.

    A backslash at the end of a line would continue C++'s comment in the next line, and one before a u would
    begin an escape in Java.
    """
    # split() also removes the line ends that Unicode has besides \n.
    joined = " ".join(text.split()).replace("\\", "/")
    return "".join(letter if letter.isprintable() else "?" for letter in joined)


def commented(lines: Iterable[str], sign: str) -> list[str]:
    """Returns lines as comments that keep their indentation; an empty line is the bare sign."""
    return [f"{sign} {_indent(line)}{one_line(line)}".rstrip() for line in lines]


def _indent(line: str) -> str:
    """Returns the spaces at the begin of a line."""
    return " " * (len(line) - len(line.lstrip(" ")))


def head(found: Found, sign: str, system: str, notes: Iterable[str], unmapped: Iterable[str]) -> list[str]:
    """Returns the comments at the begin of an exported text.

    Args:
        found: configuration to export.
        sign: sign that begins a comment, such as "#".
        system: name of the system, with the version whose names are used.
        notes: what to know before using the text.
        unmapped: one line for each option that is left out.
    """
    lines = [*found.comment, f"For {system}"]
    for title, items in (("Before you use it:", notes), ("Left out:", unmapped)):
        # Wrapping comes after one_line, so that a line break in foreign text cannot leave the comment.
        bullets = [line for item in items for line in _BULLET.wrap(one_line(item))]
        lines += ["", title, *bullets] if bullets else []
    return commented(lines, sign)
