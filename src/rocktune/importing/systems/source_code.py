"""Java and C++ source that sets options: RocksDBConfigSetter classes, option factories, headers."""

import ast
import operator
import re
from collections.abc import Callable

from rocktune.importing.systems.settings import Collected, Reading, Setting, is_option
from rocktune.systems.typed_options import ENUMERATIONS, TYPES, setter

_CALL = re.compile(r"\b\w+\s*\.\s*(set\w+)\s*\(((?:[^()]|\([^()]*\))*)\)")
_ASSIGNMENT = re.compile(r"\b\w+\s*(?:->|\.)\s*([a-z]\w*)\s*=\s*([^=;][^;]*);")
_PARSED = re.compile(r'\{\s*"([a-z]\w*)"\s*,\s*"((?:[^"\\]|\\.)*)"\s*\}')
_OPERATORS: dict[type[ast.operator], Callable[..., float]] = {
    ast.Mult: operator.mul,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.LShift: operator.lshift,
    ast.Div: operator.truediv,
}
_BOOLEANS = ("true", "false")


def recognises_java(text: str) -> bool:
    """Returns whether a file is Java source that uses rocksdbjni."""
    return re.search(r"^\s*import\s[^;\n]*[rR]ocks[dD][bB]", text, re.MULTILINE) is not None


def recognises_cpp(text: str) -> bool:
    """Returns whether a file is C++ source that uses RocksDB."""
    return "rocksdb::" in text or re.search(r"^\s*#\s*include\s*[<\"]rocksdb/", text, re.M) is not None


def read_java(path: str, text: str) -> Collected:
    """Returns the options that a Java file's setters get; see `Collected.read` for what is refused."""
    file = Collected("Java", path)
    names = {setter(name): name for name in TYPES}
    code = _without_comments(text)
    cache = re.search(r"new\s+LRUCache\s*\(([^,)]*)", code)
    bloom = re.search(r"new\s+BloomFilter\s*\(([^,)]*)", code)
    for call in _CALL.finditer(code):
        setting = Setting(call[1], call[2].strip(), _line(code, call.start()))
        if call[1] == "setBlockCache":
            _add_number(file, setting, "block_cache", cache, "{}")
        elif call[1] in ("setFilterPolicy", "setFilter"):
            if setting.text == "null":
                _replace(file, Reading("filter_policy", "nullptr", (setting,)))
            else:
                _add_number(file, setting, "filter_policy", bloom, "bloomfilter:{}:false")
        elif call[1] in names:
            _add(file, setting, names[call[1]])
    return file


def read_cpp(path: str, text: str) -> Collected:
    """Returns the options that a C++ file assigns; see `Collected.read` for what is refused."""
    file = Collected("C++", path)
    code = _without_comments(text)
    for found in _ASSIGNMENT.finditer(code):
        setting = Setting(found[1], " ".join(found[2].split()), _line(code, found.start()))
        if found[1] == "block_cache":
            cache = re.search(r"NewLRUCache\s*\(([^,)]*)", setting.text)
            _add_number(file, setting, "block_cache", cache, "{}")
        elif found[1] == "filter_policy":
            bits = re.search(r"New(Bloom|Ribbon)FilterPolicy\s*\(([^,)]*)", setting.text)
            if setting.text == "nullptr":
                _replace(file, Reading("filter_policy", "nullptr", (setting,)))
            elif bits is None:
                _leave_out(file, setting)
            else:
                value = re.match("(.*)", bits[2])
                kind = bits[1].lower()
                _add_number(file, setting, "filter_policy", value, f"{kind}filter:{{}}:false")
        elif found[1] in TYPES:
            _add(file, setting, found[1])
    for found in _PARSED.finditer(code):
        if is_option(found[1]):
            setting = Setting(found[1], re.sub(r"\\(.)", r"\1", found[2]), _line(code, found.start()))
            _replace(file, Reading(found[1], setting.text, (setting,)))
    return file


def _without_comments(text: str) -> str:
    """Returns source without comments, with the same lines."""
    kept = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", kept)


def _line(code: str, position: int) -> int:
    return code.count("\n", 0, position) + 1


def _leave_out(file: Collected, setting: Setting) -> None:
    file.leave_out(setting, "its value is no constant that rocktune reads, so its effect is unknown")


def _add(file: Collected, setting: Setting, option: str) -> None:
    """Adds an option with a constant value; others are left out."""
    kind = TYPES[option]
    if kind in ENUMERATIONS:
        value = next(
            (cpp for cpp, java in ENUMERATIONS[kind].items()
             if setting.text.rpartition("::")[2] == cpp or setting.text.rpartition(".")[2] == java),
            None,
        )  # fmt: skip
    elif kind == "boolean":
        value = setting.text if setting.text in _BOOLEANS else None
    else:
        value = _constant(setting.text)
    if value is None:
        _leave_out(file, setting)
    else:
        _replace(file, Reading(option, value, (setting,)))


def _add_number(
    file: Collected, setting: Setting, option: str, found: re.Match[str] | None, form: str
) -> None:
    """Adds an option whose number is an argument in the source; left out if that is no constant."""
    number = None if found is None else _constant(found[1])
    if number is None:
        _leave_out(file, setting)
    else:
        _replace(file, Reading(option, form.format(number), (setting,)))


def _replace(file: Collected, reading: Reading) -> None:
    """Adds a reading. A later statement replaces an earlier one's value, as it does when the code runs."""
    for earlier in [each for each in file.db if each.option == reading.option]:
        file.db.remove(earlier)
        line = reading.settings[0].line
        file.leave_out(earlier.settings[0], f"set again in line {line}; one set of options is read")
    file.db.append(reading)


def _constant(text: str) -> str | None:
    """Returns the number of a constant expression such as `64 * 1024L << 1`; None if it is none."""
    plain = re.sub(r"(?<=\d)(?:[uUlL]+)\b", "", re.sub(r"(?<=\d)_(?=\d)|\([a-z]+\)|'", "", text)).strip()
    try:
        value = _value(ast.parse(plain, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError, MemoryError):
        return None
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _value(node: ast.expr) -> float:
    """Returns the value of a constant expression; raises ValueError for any other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
        raise ValueError("no constant")
    left, right = _value(node.left), _value(node.right)
    if isinstance(node.op, ast.LShift) and not (isinstance(left, int) and 0 <= right < 64):
        raise ValueError("a shift out of range")
    return float(left / right) if isinstance(node.op, ast.Div) else _OPERATORS[type(node.op)](left, right)
