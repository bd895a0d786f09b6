"""db_bench's command lines, as gflags reads them, split into words without a shell."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from rocktune.errors import UserError, unknown_name
from rocktune.importing.systems.settings import Setting

WHERE = "db_bench command"
SWITCH_WORDS = dict.fromkeys(("1", "t", "true", "y", "yes"), True) | dict.fromkeys(
    ("0", "f", "false", "n", "no"), False
)
"""gflags' words for true and false, in lower case."""
_SHELL = re.compile(r"\||&&?|;|\d?>{1,2}.*|<.*|2>&1")
_MAX_FLAG_FILES = 20


@dataclass(frozen=True)
class KnownFlag:
    """A flag of db_bench.

    Attributes:
        kind: gflags' type: "bool", "string", "double" or an integer type.
        default: text of the default of the newest version that has it.
    """

    kind: str
    default: str


@dataclass(frozen=True)
class CommandLine:
    """The flags of a command.

    Attributes:
        flags: in the order in which they count, repeated ones too; those of flag files at their places.
        unknown: flags that --undefok allows although db_bench does not have them.
        other_words: words that are no flags, without the program.
    """

    flags: tuple[Setting, ...]
    unknown: tuple[Setting, ...]
    other_words: tuple[str, ...]


@cache
def known_flags() -> dict[str, KnownFlag]:
    """Returns the flags of db_bench from RocksDB 7.8 to 11.8, by name."""
    text = files(__package__).joinpath("db_bench_flags.txt").read_text(encoding="utf-8")
    rows = [line.split(" ", 2) for line in text.splitlines()]
    return {row[0]: KnownFlag(row[1], row[2] if len(row) > 2 else "") for row in rows}


def parse_command(command: str) -> CommandLine:
    """Returns the flags of a db_bench command.

    Takes `--flag=value`, `--flag value` unless the flag is true or false, `--flag`, `--noflag`, one dash or
    two, dashes for underscores, and --flagfile. Nothing is expanded or run.

    Args:
        command: the command as typed into a shell, or its flags alone.

    Raises:
        UserError: quotes are unbalanced, a flag is unknown or lacks its value, or a flag file cannot be read.
    """
    try:
        words = shlex.split(re.sub(r"\\\r?\n", " ", command))
    except ValueError as failure:
        raise UserError(f"{WHERE}: {str(failure).lower()}; check its quotes") from None
    before, words = _after_program(words)
    words, shell = _before_shell(words)
    reader = _FlagReader()
    reader.read(words, 0)
    allowed = {name for each in reader.undefok for name in each.replace("-", "_").split(",")}
    for setting in reader.unknown:
        if setting.name not in allowed and setting.name.removeprefix("no") not in allowed:
            raise UserError(
                f"{WHERE}: {unknown_name('flag', f'--{setting.name}', _dashed())} "
                "Leave it out if only your db_bench has it."
            )
    return CommandLine(tuple(reader.flags), tuple(reader.unknown), (*before, *reader.other_words, *shell))


def _dashed() -> list[str]:
    return [f"--{name}" for name in known_flags()]


def _after_program(words: list[str]) -> tuple[list[str], list[str]]:
    """Returns the words before the program, and those behind it."""
    for at, word in enumerate(words):
        if re.fullmatch(r"db_bench[\w.-]*", Path(word).name):
            return words[:at], words[at + 1 :]
    if not words or not words[0].startswith("-"):
        raise UserError(f"{WHERE}: does not run db_bench; give the command with its flags")
    return [], words


def _before_shell(words: list[str]) -> tuple[list[str], list[str]]:
    """Returns the words up to a pipe, redirection or end of the command, and the others."""
    for at, word in enumerate(words):
        ends = word.endswith(";") and not word.startswith("-")
        if _SHELL.fullmatch(word) or ends:
            return words[:at], words[at:]
    return words, []


class _FlagReader:
    """Reads flags from words and from flag files.

    Attributes:
        flags: the known flags.
        unknown: the others.
        undefok: values of --undefok.
        other_words: words that are no flags.
    """

    def __init__(self) -> None:
        self.flags: list[Setting] = []
        self.unknown: list[Setting] = []
        self.undefok: list[str] = []
        self.other_words: list[str] = []
        self._flag_files = 0

    def read(self, words: list[str], line: int) -> None:
        """Reads words; `line` is their line in a flag file, 0 for the command itself."""
        rest = iter(words)
        for word in rest:
            match = re.fullmatch(r"--?([A-Za-z_][\w-]*)(?:=(.*))?", word, re.DOTALL)
            if word == "--":
                self.other_words.extend(rest)
            elif match is None:
                self.other_words.append(word)
            else:
                self._read_flag(match[1].replace("-", "_"), match[2], rest, line)

    def _read_flag(self, name: str, value: str | None, rest: Iterator[str], line: int) -> None:
        known = known_flags().get(name)
        off = known_flags().get(name.removeprefix("no")) if name.startswith("no") else None
        if known is None and off is not None and off.kind == "bool" and value is None:
            self.flags.append(Setting(name.removeprefix("no"), "false", line))
        elif known is None and name not in ("flagfile", "undefok", "fromenv", "tryfromenv"):
            self.unknown.append(Setting(name, "true" if value is None else value, line))
        elif known is not None and known.kind == "bool":
            # gflags takes no value from the next word for these.
            self.flags.append(Setting(name, "true" if value is None else value, line))
        else:
            text = next(rest, None) if value is None else value
            if text is None:
                raise UserError(f"{WHERE}: --{name}: lacks its value; write --{name}=VALUE")
            self._take(name, text, line)

    def _take(self, name: str, text: str, line: int) -> None:
        if name == "undefok":
            self.undefok.append(text)
        elif name in ("fromenv", "tryfromenv"):
            raise UserError(f"{WHERE}: --{name}: the environment is not read; give the flags themselves")
        elif name == "flagfile":
            for each in text.split(","):
                self._read_file(Path(each))
        else:
            self.flags.append(Setting(name, text, line))

    def _read_file(self, path: Path) -> None:
        self._flag_files += 1
        if self._flag_files > _MAX_FLAG_FILES:
            raise UserError(f"{WHERE}: --flagfile: more than {_MAX_FLAG_FILES} files; does one name itself?")
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as failure:
            raise UserError(f"{WHERE}: --flagfile: {path} cannot be read: {failure.strerror}") from None
        except UnicodeDecodeError:
            raise UserError(f"{WHERE}: --flagfile: {path} is no text") from None
        for number, line in enumerate(text.splitlines(), 1):
            # The whole line is one word: gflags knows no quotes there.
            if (word := line.strip()) and not word.startswith("#"):
                self.read([word], number)
