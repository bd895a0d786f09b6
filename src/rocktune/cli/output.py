"""Output of the command line: one JSON document or text on stdout, everything else on stderr."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

# Rich assumes 80 columns without a terminal, which folds tables in files and pipes.
_WIDTH_WITHOUT_TERMINAL = 120


def stdout() -> Console:
    """Returns a console on standard output that prints text unchanged: no markup, no highlighting."""
    return _console(stderr=False)


def stderr() -> Console:
    """Returns a console on standard error."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    """Returns a console on standard error if `stderr`, else on standard output."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    # Paths and figures must appear as they are: highlighting or emoji codes would change them.
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)


def print_json(document: Any) -> None:
    """Prints one JSON document. NaN and infinities become null, which JSON has instead."""
    sys.stdout.write(json.dumps(plain(document), allow_nan=False, indent=2) + "\n")


def plain(value: Any) -> Any:
    """Returns data as types that JSON can hold.

    Raises:
        TypeError: a value has no JSON form.
    """
    # Before the numbers of NumPy, because bool is an int and must stay one.
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer | np.bool_):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"no JSON form for {type(value).__name__}")


def print_text(text: str) -> None:
    """Prints text unchanged, without a line end of its own."""
    sys.stdout.write(text)


def print_line(text: str, error: bool = False) -> None:
    """Prints a line without wrapping, so that paths and commands in it can be copied."""
    (stderr() if error else stdout()).print(text, soft_wrap=True)


def table(*columns: str, numbers: Sequence[str] = ()) -> Table:
    """Returns an empty table without lines but the one under its heads.

    Args:
        *columns: heads.
        numbers: the heads of columns to be set to the right.
    """
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for column in columns:
        made.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    return made
