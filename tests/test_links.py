"""The links, files and modules that texts name are there, pages are short, and no text cites an issue."""

import re
import subprocess
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from os.path import normpath
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

TEXTS = {"", ".cc", ".cmake", ".h", ".in", ".java", ".json", ".mako", ".md", ".py", ".pyi", ".toml", ".xml"}

OF_OTHER_PROJECTS = {
    "examples/rocksdb_option_file_example.ini",
    "options/cf_options.cc",
    "options/db_options.cc",
    "options/options.cc",
    "rocksdb/db.h",
    "src/config/config.cc",
    "src/config/mod.rs",
    "src/storage/storage.cc",
    "tools/db_bench_tool.cc",
}
"""Source files of RocksDB, Kvrocks and TiKV that the texts name."""

LOGGERS = {"rocktune.adaptive"}
"""Dotted names that are no module's."""

LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(
    r"(?<![\w./<{-])(?:benchmarks|cmake|cpp|docs|examples|rocksdb|shared|src|tests|tools)/[\w*./-]*[\w*/]"
)
SOURCE = re.compile(r"`([\w*./-]+\.(?:cc|h|md|py))`")
PAGE = re.compile(r"(?<![\w./<{}-])[\w.][\w./-]*\.md\b")
STARTED = re.compile(r"-m ((?:benchmarks|rocktune)(?:\.[a-z_]\w*)+)")
DOTTED = re.compile(r"(?<![\w./-])benchmarks(?:\.[a-z_]\w*)+|(?<=`)rocktune(?:\.\w+)+(?=[`(])")
PLACEHOLDER = re.compile(r"^[A-Z][A-Z_]+$|\b[A-Z]+-[A-Z]+\b")
# A frame of a stack trace, "#1 0x7f", is no issue.
ISSUE = re.compile(r"\bissues?[ _-]?#?\d|(?<![\w&])#\d{1,4}\b(?! 0x)", re.IGNORECASE)


@cache
def files() -> tuple[str, ...]:
    """Returns the paths in the repository, those not yet added among them, relative to its root."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return tuple(path for path in listed if (ROOT / path).is_file())


@cache
def paths() -> frozenset[str]:
    """Returns the repository's files and folders."""
    folders = {str(folder) for path in files() for folder in Path(path).parents}
    return frozenset(files()) | folders - {"."}


@cache
def is_there(name: str) -> bool:
    """Whether a path ends a file's or folder's; a part in capitals stands for any, and `*` for any text."""
    parts = [PLACEHOLDER.sub("*", part) for part in name.rstrip("/").split("/")]
    while parts[0] in (".", ".."):
        del parts[0]
    pattern = "/".join(parts)
    return any(fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}") for path in paths())


def missing_links(path: str, line: str) -> Iterator[str]:
    """Yields the targets of a page's links that are not there."""
    for target in LINK.findall(line) if path.endswith(".md") else ():
        name, _, _ = target.partition("#")
        if name and ":" not in name and normpath(Path(path).parent / name) not in paths():
            yield target


def missing_paths(path: str, line: str) -> Iterator[str]:
    """Yields the files that a line names and the repository does not have."""
    for name in dict.fromkeys((*PATH.findall(line), *SOURCE.findall(line), *PAGE.findall(line))):
        if name not in OF_OTHER_PROJECTS and not is_there(name):
            yield name


def missing_modules(path: str, line: str) -> Iterator[str]:
    """Yields the modules, and names within modules, that a line has and the repository does not."""
    started = set(STARTED.findall(line))
    yield from (name for name in started if not source_of(name))
    yield from (name for name in set(DOTTED.findall(line)) - started - LOGGERS if not is_defined(name))


def source_of(module: str) -> str:
    """Returns the file of a module or package; empty if there is none."""
    stem = ("src/" if module.startswith("rocktune") else "") + module.replace(".", "/")
    names = (f"{stem}.py", f"{stem}.pyi", f"{stem}/__init__.py")
    return next((name for name in names if name in paths()), "")


def is_defined(name: str) -> bool:
    """Whether a dotted name is a module's, or what follows a module's is a word of its text."""
    if source_of(name):
        return True
    module, _, rest = name.partition(".")
    while source_of(f"{module}.{rest.partition('.')[0]}"):
        head, _, rest = rest.partition(".")
        module = f"{module}.{head}"
    return re.search(rf"\b{rest.partition('.')[0]}\b", (ROOT / source_of(module)).read_text()) is not None


def cited_issues(path: str, line: str) -> Iterator[str]:
    """Yields the issues that a line cites by number."""
    yield from ISSUE.findall(line)


CHECKS = (missing_links, missing_paths, missing_modules, cited_issues)


@pytest.mark.parametrize("check", CHECKS)
def test_every_text_names_what_is_there(check: Callable[[str, str], Iterator[str]]) -> None:
    found = "\n".join(
        f"{path}:{number}: {name}"
        for path in files()
        if Path(path).suffix in TEXTS and path != "tests/test_links.py"
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1)
        for name in check(path, line)
    )
    assert not found, f"not in the repository:\n{found}"


@pytest.mark.parametrize(
    ("check", "line", "found"),
    [
        (
            missing_links,
            "[a](design/flsm.md#x) [b](design/none.md) [c](https://a.b/none)",
            ["design/none.md"],
        ),
        (
            missing_paths,
            "(docs/design/none.md), `docs/design/flsm.md`, docs/none",
            ["docs/design/none.md", "docs/none"],
        ),
        (missing_paths, "`none.h`, `flsm/flsm_policy.h`, `study/none.py`", ["none.h", "study/none.py"]),
        (
            missing_paths,
            "see NONE.md, shared/NONE and docs/evidence/FOLDER/claims.json",
            ["shared/NONE", "NONE.md"],
        ),
        (missing_modules, "python -m benchmarks.none.a, `rocktune.trial.Trial`", ["benchmarks.none.a"]),
        (missing_modules, "python -m benchmarks.dremel.shared_", ["benchmarks.dremel.shared_"]),
        (missing_modules, "`rocktune.trial.None_`", ["rocktune.trial.None_"]),
        (cited_issues, "as issue 7 asks, and #12; not #x or &#39;", ["issue 7", "#12"]),
    ],
)
def test_a_name_that_is_not_there_is_found(
    check: Callable[[str, str], Iterator[str]], line: str, found: list[str]
) -> None:
    assert list(check("docs/page.md", line)) == found


def test_pages_for_people_have_at_most_120_lines() -> None:
    """Generated pages, the changelog and the licence are not read from beginning to end."""
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/design/*.md"), *ROOT.glob("docs/tutorials/*.md")]
    pages += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    assert len(pages) > 30
    lengths = {str(page.relative_to(ROOT)): len(page.read_text().splitlines()) for page in pages}
    assert {page: length for page, length in lengths.items() if length > 120} == {}
