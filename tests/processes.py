"""What a test has left running."""

import psutil

_SERVERS = {"postgres", "mariadbd"}


def children() -> list[psutil.Process]:
    """Returns this process' children but the database servers, which live as long as all tests do."""
    return [child for child in psutil.Process().children() if child.name() not in _SERVERS]
