"""What a secret's value looks like, as against code, placeholders, prose and counters after the same names."""

from __future__ import annotations

import re
from collections.abc import Callable


def mixed(value: str) -> bool:
    """Whether it has letters and digits."""
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def repetitive(value: str) -> bool:
    """`sk-xxxxxxxx`, `ghp_0000`, `AKIA_EXAMPLE`: shapes that documentation shows."""
    tail = value[-16:]
    low = value.lower()
    words = ("example", "your", "placeholder", "redacted", "xxxxx", "replace")
    return len(set(tail)) <= 3 or any(word in low for word in words)


_WORDS = (
    "bearer basic null none nil true false undefined string str int bool bytes text any object value required optional "
    "hidden masked invalid incorrect wrong correct expired missing empty unset default unknown secret password passwd "
    "token key credential credentials input type reset changed encrypted hashed stored here todo tbd n/a env "
    "vault test "
    "foo bar abc secretstr"
)
_HOLLOW = re.compile(
    r"""
    [*•.·xX_\#?-]+ | <.* | .*>$ | \[.* | \$.* | %.*% | @\w.* | \{.* | /\w.* | \\.* | .*\(.*   # placeholders, code
  | [A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+ | [A-Za-z_][\w.]*\[.*                                # config.password, tokens[0]
  | (?i: (?:your|my|the|a|some|new|old|this|that|our)[-_\ ].* | (?:your|my)(?:password|token|key|secret|api).*
      | .*(?:example|placeholder|redacted|change[-_]?me|xxxx).* | (?:"""
    + "|".join(_WORDS.split())
    + r""")\W* )
    """,
    re.VERBOSE | re.DOTALL,
)


def is_placeholder(value: str) -> bool:
    """Whether it stands for a value: `<password>`, `$TOKEN`, `****`, `config.password`, `required`."""
    return bool(_HOLLOW.fullmatch(value)) or len(set(value)) == 1


def stands_out(value: str) -> bool:
    """Whether it is a password with nothing but a space before it (`账号 admin 密码 Abc#1234`)."""
    return len(value) >= 7 and value.isascii() and mixed(value) and not re.search(r"[_./]|^v?\d+\W", value)


def varied(value: str) -> bool:
    """Whether it is more than a word of prose: a digit, a sign inside, or capitals inside."""
    inner = value[1:]
    return (
        any(char.isdigit() for char in value)
        or any(char.isascii() and not char.isalnum() and char not in "-_'./" for char in value)
        or (value != value.upper() and any(char.isupper() for char in inner) and "_" not in value)
    )


def looks_secret(value: str, kind: str, *, quoted: bool, sign: str, spaced: bool) -> bool:
    """Whether what stands after a secret's name is its value.

    Args:
        value: What stands there.
        kind: `password`, `pin`, `token` or `key`.
        quoted: Whether it stood in quotation marks.
        sign: What joined it to its name (`=`, `:`), empty for prose.
        spaced: Whether there was space between them.
    """
    if is_placeholder(value) or not value.isprintable():
        return False
    rule: Callable[..., bool] = _RULES[kind]
    return rule(value, quoted, sign, spaced)


def _password_like(value: str, quoted: bool, sign: str, spaced: bool) -> bool:
    if len(value) < 4 or (not value.isascii() and not (quoted and len(value) >= 4 and sign)):
        return False
    if varied(value):
        return not re.fullmatch(r"\d{1,3}[-+]?\w{0,8}", value) or len(value) >= 6
    words = re.split(r"[-_ .]", value)
    if len(words) >= 4 or (quoted and len(value) >= 6 and " " not in value):
        return True
    return sign in ("=", ":=") and not spaced and len(value) >= 6 and len(words) == 1


def _pin_like(value: str, quoted: bool, sign: str, spaced: bool) -> bool:
    return value.isdigit() and 4 <= len(value) <= 8


def _key_like(value: str, quoted: bool, sign: str, spaced: bool) -> bool:
    if not value.isascii() or len(value) < 8 or " " in value or re.fullmatch(r"[\d.,:/-]{1,24}", value):
        return False
    if mixed(value):
        return not re.fullmatch(r"(?:[a-z]{2,}[-_.]){1,6}(?:v?\d{1,3}|[a-z]+\d{0,2})", value)
    return (len(value) >= 24 and not re.search(r"[-_.][a-z]{2,}[-_.]", value)) or (value.isalpha() and len(value) >= 16)


_RULES: dict[str, Callable[..., bool]] = {
    "password": _password_like,
    "pin": _pin_like,
    "token": _key_like,
    "key": _key_like,
}
