"""The flags of an interrupted run, which a run that continues it in the same `--out` has to share."""

import json
from collections.abc import Set as AbstractSet

from benchmarks.common.claims import Settings
from rocktune.errors import UserError

FREE = frozenset({"repeats"})
"""Flags that say how much is measured, not what."""


def check_flags(settings: Settings, free: AbstractSet[str] = FREE) -> None:
    """Refuses an `--out` whose rows were made with other flags, and notes the flags in a new one.

    Does nothing without `--out`.

    Args:
        settings: settings of the benchmark.
        free: flags of the benchmark that may differ.

    Raises:
        UserError: a flag differs.
    """
    if settings.out is None:
        return
    flags = {name: value for name, value in settings.extra.items() if name not in free}
    flags |= {"quick": settings.quick, "scale": settings.scale}
    path = settings.out / "flags.json"
    if not path.exists():
        settings.out.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(flags, indent=1) + "\n", "utf-8")
        return
    for name, value in json.loads(path.read_text("utf-8")).items():
        if flags.get(name) != value:
            raise UserError(
                f"--{name}: what is in {settings.out} was made with {value}; give that, or another --out"
            )
