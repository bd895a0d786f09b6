"""Workload files from the descriptions of other programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocktune.api.new_files import checked_new_file, write_new_file
from rocktune.importing.workloads import ImportedWorkload, Use, from_db_bench, from_ycsb
from rocktune.workload import workload_file_text

_MAX_SHOWN = 200
"""Characters of a value that a comment shows."""


@dataclass(frozen=True)
class WrittenWorkload:
    """A workload file and what it was made from.

    Attributes:
        file: the file.
        imported: the workload with the account of each setting.
    """

    file: Path
    imported: ImportedWorkload


def workload_from_ycsb(
    file: str | Path, *, properties: Sequence[str] = (), out: str | Path | None = None
) -> WrittenWorkload:
    """Writes the workload file of a YCSB property file.

    Args:
        file: the properties of a CoreWorkload.
        properties: properties that override the file's, such as "recordcount=5000000".
        out: file to write; it must end in .toml and not exist yet. The default is the name of `file` with
            this ending, in the current directory.

    Raises:
        UserError: `file` cannot be imported (see `rocktune.importing.workloads.from_ycsb`), or `out` cannot
            be written.
    """
    return _written(from_ycsb(Path(file), properties), out)


def workload_from_db_bench(command: str, *, out: str | Path | None = None) -> WrittenWorkload:
    """Writes the workload file of a db_bench command.

    Args:
        command: the command as typed into a shell, or its flags alone. Nothing is run.
        out: see `workload_from_ycsb`; the default is named after the benchmarks.

    Raises:
        UserError: the command cannot be imported (see `rocktune.importing.workloads.from_db_bench`), or
            `out` cannot be written.
    """
    return _written(from_db_bench(command), out)


def _written(imported: ImportedWorkload, out: str | Path | None) -> WrittenWorkload:
    """Writes the file of a workload, which is named after it."""
    path = checked_new_file(Path(f"{imported.workload.name}.toml" if out is None else out), "--workload")
    # The file's name is the workload's, as in each workload file without a name.
    named = imported.workload.model_copy(update={"name": path.stem})
    text = "".join(f"# {line}\n" for line in _comments(imported)) + workload_file_text(named)
    write_new_file(path, text)
    return WrittenWorkload(path, imported)


def _comments(imported: ImportedWorkload) -> list[str]:
    """Returns the lines of the file's head: source, and what the workload has not or not exactly."""
    lines = [f"Made by rocktune from {_plain(imported.source)}: {imported.summary}."]
    for entry in imported.entries:
        if entry.use in (Use.TRANSLATED, Use.LEFT_OUT):
            becomes = f" {entry.becomes};" if entry.becomes else ""
            lines.append(f"{entry.use}: {_plain(f'{entry.name}={entry.given}')}:{becomes} {entry.why}")
    lines += [f"Assumed: {sentence}" for sentence in imported.assumed]
    lines += [f"Warning: {_plain(sentence)}" for sentence in imported.warnings]
    return [_plain(line) for line in lines]


def _plain(text: str) -> str:
    """Returns a text without characters that could end a comment."""
    return ascii(text)[1:-1].replace("\\'", "'")[:_MAX_SHOWN]


def workload_json(written: WrittenWorkload) -> dict[str, Any]:
    """Returns a written workload file as JSON data: file, workload, account, assumptions, warnings."""
    imported = written.imported
    return {
        "file": str(written.file),
        "source": imported.source,
        "workload": imported.workload.model_dump(mode="json"),
        "entries": [
            {"name": each.name, "given": each.given, "use": str(each.use), "becomes": each.becomes,
             "why": each.why}
            for each in imported.entries
        ],
        "assumed": list(imported.assumed),
        "warnings": list(imported.warnings),
    }  # fmt: skip
