"""What a program, or the command line, asks of an FLSM store from outside."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rocktune.online import read_flsm_shape


def flsm_shape(path: Path | str) -> dict[str, Any]:
    """Returns levels and runs of an FLSM store, which may be open in another process; nothing is changed.

    Returns:
        A JSON object with the fields of `rocktune.online.FlsmShape`, and `runs`, the sorted runs in all.

    Raises:
        UserError: there is no FLSM store, or its shape cannot be read.
    """
    shape = read_flsm_shape(path)
    return asdict(shape) | {"runs": shape.runs}
