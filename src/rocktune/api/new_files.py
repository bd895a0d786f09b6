"""New files that users name: checked before the work, never over an existing one."""

from pathlib import Path

from rocktune.errors import UserError


def checked_new_file(path: Path, option: str) -> Path:
    """Returns the path of a TOML file to write, after checking it.

    Args:
        path: the file.
        option: the option that will name it later, such as "--device".

    Raises:
        UserError: the file exists, has a wrong suffix, or its directory is missing.
    """
    if path.suffix != ".toml" or not path.stem:
        raise UserError(f"out: '{path}' must end in .toml, so that {option} takes it for a file")
    # Links that lead nowhere, too: writing would make the file that they name.
    if path.exists() or path.is_symlink():
        raise UserError(f"out: {path} exists; remove it, or name another file")
    if not path.absolute().parent.is_dir():
        raise UserError(f"out: the directory of {path} does not exist; make it first")
    return path


def write_new_file(path: Path, text: str) -> None:
    """Writes a file that does not exist yet.

    Raises:
        UserError: it exists by now or cannot be written.
    """
    try:
        # "x": a file that was made since the check is not overwritten either.
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as failure:
        raise UserError(f"out: {path} cannot be written: {failure.strerror}") from None
