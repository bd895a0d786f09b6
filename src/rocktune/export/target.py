"""What a target is, what it is given, and the comments that every exported text begins with."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from textwrap import TextWrapper

from rocktune.ledger import StudyRecord
from rocktune.space import OptionMaps
from rocktune.workload import WorkloadSpec

_BULLET = TextWrapper(
    100, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)


@dataclass(frozen=True)
class Found:
    """What a target is given.

    Attributes:
        options: of the recommended configuration, at full size.
        comment: who found it, and how well it is proven; lines without a comment sign.
        rocksdb_version: of the RocksDB that was measured.
        study: the study's record.
    """

    options: OptionMaps
    comment: tuple[str, ...]
    rocksdb_version: str
    study: StudyRecord

    @property
    def workload(self) -> WorkloadSpec:
        """The workload that was measured, full size."""
        return WorkloadSpec.model_validate(self.study.spec["workload"])


@dataclass(frozen=True)
class Target:
    """A form in which a configuration can be exported.

    Attributes:
        name: as users call it.
        summary: one line.
        write: returns the text; raises UserError for what the form cannot express at all.
        holds_cache_settings: whether the form takes the text of `block_cache` as RocksDB does; else it is
            given the capacity alone.
    """

    name: str
    summary: str
    write: Callable[[Found], str]
    holds_cache_settings: bool = False


def one_line(text: str) -> str:
    """Returns text that cannot leave a comment: one line, nothing unprintable, slashes for backslashes.

    A backslash at a line's end would take C++'s next line into the comment, and one before a u could begin a
    line in Java's.
    """
    joined = " ".join(text.split()).replace("\\", "/")
    return "".join(letter if letter.isprintable() else "?" for letter in joined)


def commented(lines: Iterable[str], sign: str) -> list[str]:
    """Returns lines as comments, with the spaces before their text; an empty one is the bare sign."""
    return [f"{sign} {_indent(line)}{one_line(line)}".rstrip() for line in lines]


def _indent(line: str) -> str:
    return " " * (len(line) - len(line.lstrip(" ")))


def head(found: Found, sign: str, system: str, notes: Iterable[str], unmapped: Iterable[str]) -> list[str]:
    """Returns the comments that an exported text begins with.

    Args:
        found: what is exported.
        sign: that begins a comment, such as "#".
        system: what the text is for, with the version whose names it has.
        notes: what the reader has to know before using it there.
        unmapped: options that the text leaves out, one line each.
    """
    lines = [*found.comment, f"For {system}"]
    for title, items in (("Before you use it:", notes), ("Not taken over:", unmapped)):
        bullets = [line for item in items for line in _BULLET.wrap(one_line(item))]
        lines += ["", title, *bullets] if bullets else []
    return commented(lines, sign)
