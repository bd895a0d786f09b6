"""A self-contained HTML page: it holds all it needs and requests nothing.

Figures are JSON for the inlined Plotly library. The page's content security policy allows only two scripts,
known by their digests, and forbids every request.
"""

import base64
import hashlib
from contextlib import suppress
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from plotly.offline import get_plotlyjs


def write_document(path: Path, page: str) -> None:
    """Writes a page, replacing the file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same directory, because a rename is atomic only within a file system.
    unfinished = path.with_name(path.name + ".part")
    try:
        unfinished.write_text(page, encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        raise


@cache
def _resource(name: str) -> str:
    """Returns the text of a file of this package."""
    return (files("rocktune.report") / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """Returns the digest of a script in the form of content security policies."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def document(title: str, body: str) -> str:
    """Returns a page.

    Args:
        title: title as plain text; it is escaped here.
        body: HTML, in which all outside text is already escaped.
    """
    # Plotly has some megabytes, which a page without figures need not carry.
    scripts = [get_plotlyjs(), _resource("theme.js")] if "data-figure=" in body else []
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {' '.join(map(_digest, scripts)) or chr(39) + 'none' + chr(39)}"
    )
    inlined = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        # An empty icon keeps the browser from requesting /favicon.ico.
        f"<title>{escape(title)}</title>\n<style>\n{_resource('style.css')}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n{inlined}</body>\n</html>\n"
    )
