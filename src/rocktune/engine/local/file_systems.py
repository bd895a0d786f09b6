"""The type of the file system that holds a directory, from Linux's table of mounts."""

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")


def file_system_of(directory: Path, mounts: str | None = None) -> str:
    """Returns the type of the file system that holds a directory, such as "ext4" or "tmpfs".

    Args:
        directory: an absolute path without symbolic links.
        mounts: text in the format of /proc/self/mountinfo (proc(5)); that file's by default.

    Returns:
        The type; "" if the mounts cannot be read or do not hold the directory.
    """
    if mounts is None:
        try:
            mounts = _MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    found, depth = "", 0
    for line in mounts.splitlines():
        # A varying number of optional fields ends with a hyphen.
        place, _, kind = line.partition(" - ")
        fields, kinds = place.split(" "), kind.split(" ")
        if len(fields) < 5 or not kinds[0]:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        # Of mounts at one point the last one hides the others.
        if directory.is_relative_to(point) and len(point.parts) >= depth:
            found, depth = kinds[0], len(point.parts)
    return found
