"""What Lerp has learned, in a file: arrays and JSON, so that reading it never runs code."""

import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocktune.online.control.learner import STATES
from rocktune.online.control.lerp import Learned, Lerp

_FORMAT = "rocktune lerp 1"


def keep(lerp: Lerp, path: Path) -> None:
    """Writes networks, replay buffers and what is known of workloads; the file is replaced whole.

    Raises:
        OSError: it cannot be written.
    """
    about = {"format": _FORMAT, "states": STATES, "known": [asdict(known) for known in lerp.known]}
    arrays: dict[str, NDArray[np.generic]] = {"about": np.array(json.dumps(about))}
    for learner in lerp.learners:
        for name, array in learner.agent.arrays().items():
            arrays[f"level{learner.level}.{name}"] = array
    unfinished = path.with_name(f"{path.name}.new")
    with unfinished.open("wb") as file:
        # mypy takes the arrays for savez's other parameter.
        np.savez(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def restore(lerp: Lerp, path: Path) -> None:
    """Gives a new Lerp what was kept in a file.

    Raises:
        ValueError: the file is damaged, foreign, or of a Lerp of another make; nothing was taken from it.
        OSError: it cannot be read.
    """
    try:
        # Opened here, because NumPy leaves a damaged file open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        known = _known(json.loads(str(arrays["about"])))
        before = [learner.agent.arrays() for learner in lerp.learners]
        try:
            for learner in lerp.learners:
                prefix = f"level{learner.level}."
                own = {
                    name.removeprefix(prefix): array
                    for name, array in arrays.items()
                    if name.startswith(prefix)
                }
                learner.agent.restore(own)
        except ValueError:
            for learner, arrays_before in zip(lerp.learners, before, strict=True):
                learner.agent.restore(arrays_before)
            raise
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError) as failure:
        raise ValueError(f"no model of Lerp's: {failure}") from None
    lerp.known = known


def _known(about: Any) -> list[Learned]:
    if about["format"] != _FORMAT or about["states"] != STATES:
        raise ValueError(f"not of the format '{_FORMAT}'")
    known = []
    for each in about["known"]:
        policies = tuple(int(policy) for policy in each["policies"])
        if not policies or min(policies) < 1:
            raise ValueError("policies that there are not")
        known.append(Learned(float(each["read_share"]), float(each["scan_share"]), policies))
    return known
