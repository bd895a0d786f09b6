"""Kvrocks' kvrocks.conf: lines such as `rocksdb.write_buffer_size 64`."""

from rocktune.importing.systems.lines import assignments
from rocktune.importing.systems.settings import Collected, Reading, Setting
from rocktune.systems.kvrocks import COMPRESSIONS, DEFAULT_START_LEVEL, FIXED, LEVELS, PREFIX, RULES
from rocktune.systems.values import NotExpressibleError, choice, whole

_COMPRESSION, _START_LEVEL = PREFIX + "compression", PREFIX + "compression_start_level"


def recognises(text: str) -> bool:
    """Returns whether a file has a setting such as `rocksdb.block_size 16384`."""
    return any(each.name.startswith(PREFIX) for each in assignments(text, r"\s+"))


def read(path: str, text: str) -> Collected:
    """Returns the options of a kvrocks.conf; see `Collected.read` for what is refused."""
    file = Collected("Kvrocks", path, fixed=FIXED, shared_cache=True)
    settings = list(assignments(text, r"\s+"))
    ours = [each for each in settings if each.name.startswith(PREFIX)]
    file.own = len(settings) - len(ours)
    named = file.once(ours)
    kind, start = named.pop(_COMPRESSION, None), named.pop(_START_LEVEL, None)
    file.db = file.read(named, RULES, {})
    if kind is not None:
        file.db.append(_compression(file, kind, start))
    elif start is not None:
        file.leave_out(start, f"it has no effect without {_COMPRESSION}")
    return file


def _compression(file: Collected, kind: Setting, start: Setting | None) -> Reading:
    """Returns the compression of the levels; those above the start level have none."""
    given = (kind,) if start is None else (kind, start)
    try:
        ours = choice(COMPRESSIONS).read(kind.text)
    except NotExpressibleError as error:
        raise file.refused(kind, str(error)) from None
    try:
        first = DEFAULT_START_LEVEL if start is None else int(whole(0, LEVELS - 1).read(start.text))
    except NotExpressibleError as error:
        raise file.refused(start or kind, str(error)) from None
    if first == 0 or ours == "kNoCompression":
        return Reading("compression", ours, given)
    types = ["kNoCompression"] * first + [ours] * (LEVELS - first)
    return Reading("compression_per_level", ":".join(types), given)
