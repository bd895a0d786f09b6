"""New files that users name: checked before the work, never over an existing one."""

import os
from contextlib import suppress
from pathlib import Path

from rocktune.errors import UserError


def checked_new_file(path: Path, option: str) -> Path:
    """Returns the path of a TOML file to write, after checking it.

    Args:
        path: the file.
        option: the option that will name it later, such as "--device".

    Raises:
        UserError: the file exists, has a wrong suffix, or its directory is missing, or cannot be searched or
            written.
    """
    if path.suffix != ".toml" or not path.stem:
        raise UserError(f"out: '{path}' must end in .toml, so that {option} takes it for a file")
    require_new(path)
    parent = path.absolute().parent
    if not parent.is_dir():
        raise UserError(f"out: the directory of {path} does not exist; make it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(f"out: {path} cannot be written: its directory is read-only for you")
    return path


def require_new(path: Path, use: str = "") -> None:
    """Refuses a file that exists.

    Args:
        path: the file to write.
        use: what will be in it, where the user did not name it; "" where they did.

    Raises:
        UserError: it exists, or its directory cannot be searched.
    """
    try:
        # Links that lead nowhere, too: writing would make the file that they name.
        exists = path.exists() or path.is_symlink()
    except OSError as failure:
        raise UserError(f"out: {path} cannot be written: {failure.strerror}") from None
    if exists and use:
        raise UserError(f"out: {path} exists, and {use} go there; name another file")
    if exists:
        raise UserError(f"out: {path} exists; remove it, or name another file")


def write_new_file(path: Path, text: str) -> None:
    """Writes a file that does not exist yet, or no file.

    Raises:
        UserError: it exists by now or cannot be written.
    """
    made = False
    try:
        # "x": a file that was made since the check is not overwritten either.
        with path.open("x", encoding="utf-8") as file:
            made = True
            file.write(text)
    except OSError as failure:
        if made:
            # The part of a file that fits on a full disk would be in the way of the next attempt.
            with suppress(OSError):
                path.unlink()
        raise UserError(f"out: {path} cannot be written: {failure.strerror}") from None
