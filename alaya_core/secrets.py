"""Secret values found and masked in any text, in time linear in its length.

A leaf: it knows shapes of keys (a provider's prefix is enough) and names of secrets (`password=`, `密码：`), whose
value must also look like one: code, placeholders, prose and counters after such a name are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from alaya_core.secret_values import is_placeholder, looks_secret, mixed, repetitive, stands_out, varied

_LONGEST = 512  # of a value; bounds what one name can cost


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret value stands in a text.

    Attributes:
        start: Of the value alone, not of the name before it.
        end: One past its last character.
        kind: What it is (`password`, `github`, `jwt` ...), lower-case.
    """

    start: int
    end: int
    kind: str


def mask(text: str) -> str:
    """The text with each secret value replaced by `[secret:<kind>]`; masking twice changes nothing more."""
    found = find(text)
    if not found:
        return text
    parts: list[str] = []
    last = 0
    for secret in found:
        parts += (text[last : secret.start], f"[secret:{secret.kind}]")
        last = secret.end
    return "".join([*parts, text[last:]])


def find(text: str) -> list[Secret]:
    """All secret values in a text, in order and without overlap."""
    low = _lowered(text)
    candidates = [*_pem_blocks(text), *_shaped(text, low), *_url_passwords(text), *_named(text, low), *_flags(text)]
    if not candidates:
        return []
    opaque = [match.span() for match in _OPAQUE.finditer(text)]
    kept: list[Secret] = []
    for secret in sorted(candidates, key=lambda item: (item.start, -item.end)):
        if kept and secret.start < kept[-1].end:
            continue
        while opaque and opaque[0][1] <= secret.start:
            opaque.pop(0)
        if opaque and opaque[0][0] <= secret.start and secret.kind != "private-key":
            continue
        kept.append(secret)
    return kept


def _lowered(text: str) -> str:
    """The text in small letters, each where it stood, as the expressions see it that ignore case."""
    if not text.isascii():
        for other, plain in _SAME_LETTER:
            text = text.replace(other, plain)
    return text.lower()


_SAME_LETTER = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"))  # what re.IGNORECASE takes for i and s

# Base64 of images and the like: whatever a key's shape would find inside is chance.
_OPAQUE = re.compile(
    r"data:[\w.+-]{1,40}/[\w.+-]{1,60}(?:;[\w=-]{1,40}){0,3};base64,[A-Za-z0-9+/=_-]*+|[A-Za-z0-9+/]{600,}+"
)

_EDGE = r"(?<![A-Za-z0-9_-])"
_SHAPES: tuple[tuple[str, str, bool], ...] = (
    # kind, shape, whether letters AND digits must be mixed (a prefix that is also a word)
    ("anthropic", r"sk-ant-[A-Za-z0-9_-]{16,300}+", False),
    ("openai", r"sk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,300}+", True),
    ("openai", r"sk-[A-Za-z]{40,64}+(?![A-Za-z0-9_-])", False),
    ("github", r"(?:gh[pousr]_[A-Za-z0-9]{20,255}+|github_pat_[A-Za-z0-9_]{20,255}+)", False),
    ("gitlab", r"gl(?:pat|ptt|dt|rt|soat|cbt)-[A-Za-z0-9_-]{16,100}+", True),
    ("slack", r"(?:xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}+|xapp-\d-[A-Za-z0-9-]{10,250}+)", True),
    ("aws", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])", False),
    ("google", r"(?:AIza[A-Za-z0-9_-]{30,45}+|ya29\.[A-Za-z0-9_-]{20,300}+|GOCSPX-[A-Za-z0-9_-]{20,60}+)", False),
    ("telegram", r"\d{7,11}:[A-Za-z0-9_-]{33,36}(?![A-Za-z0-9_-])", True),
    ("stripe", r"(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,250}+|whsec_[A-Za-z0-9+/]{16,100}+)", True),
    ("npm", r"npm_[A-Za-z0-9]{30,60}+", False),
    ("pypi", r"pypi-[A-Za-z0-9_-]{40,300}+", True),
    ("huggingface", r"hf_[A-Za-z0-9]{25,60}+", False),
    ("sendgrid", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}+", True),
    ("digitalocean", r"do[opr]_v1_[a-f0-9]{40,80}+", False),
    ("shopify", r"shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{24,64}+", False),
    ("twilio", r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])", False),
    ("mailgun", r"key-[0-9a-f]{32}(?![A-Za-z0-9])", False),
    ("key",
        r"(?:gsk|r8|nvapi|xai|pplx|tvly|fw|csk|rnd|fly|sntrys|glsa|dckr_pat|lin_api|figd|ntn|secret|phc"
        r"|whsk)[_-][A-Za-z0-9_-]{24,300}+",
        True),
    ("key",
        r"(?:hvs\.[A-Za-z0-9_-]{20,250}+|dapi[0-9a-f]{32}|PMAK-[A-Za-z0-9-]{40,90}+|tskey-[A-Za-z0-9-]{16,100}+)",
        True),
    ("key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}+", False),
    ("aliyun", r"LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])", True),
    ("tencent", r"AKID[A-Za-z0-9]{30,48}(?![A-Za-z0-9])", True),
    ("discord", r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}+", True),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,4096}+\.[A-Za-z0-9_-]{8,8192}+(?:\.[A-Za-z0-9_-]{0,2048}+)?", True),
)  # fmt: skip
_SHAPED = [(kind, re.compile(_EDGE + shape), both) for kind, shape, both in _SHAPES]
_ANY_SHAPE = re.compile(f"{_EDGE}(?={'|'.join(shape for _, shape, _ in _SHAPES)})")  # one pass instead of one a kind
_WEBHOOK = re.compile(
    r"https://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows)|(?:\w{1,8}\.)?discord(?:app)?\.com/api/webhooks|"
    r"open\.feishu\.cn/open-apis/bot/v2/hook)/([A-Za-z0-9/_-]{20,200}+)"
)
_BEARER = re.compile(
    r"(?i:\b(bearer|authorization\W{1,4}(?:basic|token|apikey|bearer)))\s{1,4}([A-Za-z0-9._~+/=-]{8,4096}+)"
)
_COOKIE = re.compile(r"(?i:\bcookie:)[ \t]{0,4}[\w.-]{1,60}=([^\s;,\"']{16,512}+)")


def _shaped(text: str, low: str) -> Iterator[Secret]:
    ends = [0] * len(_SHAPED)
    for place in _ANY_SHAPE.finditer(text):
        for number, (kind, shape, both) in enumerate(_SHAPED):
            match = shape.match(text, place.start()) if place.start() >= ends[number] else None
            if match is None:
                continue
            ends[number] = match.end()
            value = match.group()
            if (not both or mixed(value)) and not repetitive(value):
                yield Secret(match.start(), match.end(), kind)
    for match in _WEBHOOK.finditer(text):
        if not repetitive(match[1]):
            yield Secret(match.start(1), match.end(1), "webhook")
    for match in _BEARER.finditer(text) if "bearer" in low or "authorization" in low else ():
        value = match[2]
        if len(value) >= 8 and (mixed(value) or len(value) >= 24) and not is_placeholder(value):
            yield Secret(match.start(2), match.end(2), "token")
    for match in _COOKIE.finditer(text) if "cookie:" in low else ():
        if mixed(match[1]) and not is_placeholder(match[1]):
            yield Secret(match.start(1), match.end(1), "cookie")


_PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=:, \t.-]|\\?\\[nr]|[\r\n])*+")


def _pem_blocks(text: str) -> Iterator[Secret]:
    at = 0
    while begin := _PEM_BEGIN.search(text, at):
        body = _PEM_BODY.match(text, begin.end())
        ended = _PEM_END.search(text, begin.end(), (body.end() if body else begin.end()) + 60)
        at = ended.end() if ended else (body.end() if body else begin.end())
        if at - begin.end() > 60:  # a bare header in a documentation sentence is no key
            yield Secret(begin.start(), at, "private-key")


# The host must follow at once: `://` and everything up to the last @ of the authority.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,24}://([^\s/:@\"'<>`]{0,100}+):([^\s/\"'<>`]{1,300}+)")


def _url_passwords(text: str) -> Iterator[Secret]:
    for match in _URL.finditer(text) if "://" in text else ():
        authority = match[2]
        cut = authority.rfind("@")
        if cut > 0 and not is_placeholder(authority[:cut]):
            yield Secret(match.start(2), match.start(2) + cut, "url-password")


_NAME = re.compile(
    r"""
    (?P<password>pass(?:word|wd|phrase|code)?|pwd|identified\ by|密码|口令|暗号)
  | (?P<pin>\bpin(?:[ _-]?code)?(?![a-z])|验证码|动态码)
  | (?P<token>(?:access|auth|refresh|id|bearer|bot|api|session|private|deploy)?[ _-]?token(?!s|iz)
      |cookie[ :]{1,2}[\w.-]{2,30}(?==)|令牌|授权码)
  | (?P<key>api[ _-]?key|apikey|access[ _-]?key(?![ _-]?id)|secret[ _-]?(?:access[ _-]?)?key|(?:private|encryption
    |signing|account|master|auth|license|shared)[ _-]?key
      |密钥|秘钥|私钥|secret|(?-i:(?<=[A-Z0-9]_)KEY))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_JOIN = re.compile(
    r"""
    [\"'`*\\]{0,4} \s{0,3}
    (?: (?P<sign>:=|[=-]>|={1,2}|:|：|＝|>(?=[^<\n]{4,80}</))
      | (?P<prose>(?:\ (?:for|of|to|on|at)\ [\w.\ @'-]{1,40}?)?(?:'s|\ ?(?:is|was|to|changed\ to|reset\ to
        |set\ to))(?:\ now|\ still|\ just)?[\ :]
        | (?:还|就|现在)?(?:是|为|设成了?|设置?[为成]|改成了?|改为|换成了?)(?:了|：|:)?)
      | (?P<gap>(?=\s)|(?<=[码令])) )
    \s{0,4}
    """,
    re.VERBOSE,
)
_VALUE = re.compile(
    r"\"([^\"\n\\]{1,512})\"|'([^'\n\\]{1,512})'|“([^”\n]{1,200})”|「([^」\n]{1,200})」|`([^`\n]{1,512})`"
    r"|([!-~]{1,512}+)"
)
_STOPS = re.compile(r"[\s,;，。；)}\]>\"'`&|]|\\n")
_PAGING = re.compile(
    r"(?:next|page|continuation|cancel|cancellation|sync|csrf|xsrf|stop|eos|pad|special|first|last|current"
    r"|public|primary|cache|sort|foreign|partition)[_-]?$",
    re.I,
)


# Every name holds one of these, at most so many characters behind its beginning: much faster to look for than _NAME.
_IN_NAMES = (
    *((word, 0) for word in ("pass", "pwd", "pin", "identified by", "secret", "cookie")),
    *((word, 0) for word in ("密码", "口令", "暗号", "验证码", "动态码", "令牌", "授权码", "密钥", "秘钥", "私钥")),
    ("token", len("refresh ")),
    ("key", len("encryption ")),
)


def _names(low: str) -> list[tuple[int, int]]:
    """Where names may begin: for each word that is part of one, the first and the last place."""
    found: list[tuple[int, int]] = []
    for word, before in _IN_NAMES if not low.isascii() else (*_IN_NAMES[:6], *_IN_NAMES[-2:]):
        at = low.find(word)
        while at >= 0:
            found.append((at, max(0, at - before)))
            at = low.find(word, at + 1)
    return [(first, last) for last, first in sorted(found)]


def _named(text: str, low: str) -> Iterator[Secret]:
    at = 0
    for first, last in _names(low):
        places = range(max(at, first), last + 1)
        name = next((found for place in places if (found := _NAME.match(text, place))), None)
        if name is None:
            continue
        at = name.end()
        kind = name.lastgroup or "password"
        bare = name.group().lower() == "pass"
        if bare and not re.search(r"[_A-Z]$|(?:^|[^A-Za-z])$", text[max(0, name.start() - 1) : name.start()]):
            continue
        if text[max(0, name.start() - 1) : name.start()] == "[" or _PAGING.search(
            text[max(0, name.start() - 16) : name.start()]
        ):
            continue
        join = _JOIN.match(text, name.end(), min(len(text), name.end() + 90))
        if not join or (bare and not join["sign"]):
            continue
        value = _VALUE.match(text, join.end(), min(len(text), join.end() + _LONGEST))
        if not value:
            continue
        group = value.lastindex or 0
        start, end = value.span(group)
        raw = group == 6
        if raw:
            if text.startswith(('\\"', "\\'"), start):
                start += 2
            stop = _STOPS.search(text, start, end)
            end = stop.start() if stop else end
            while end > start and text[end - 1] in ".!?:\\":
                end -= 1
        alone = kind == "password" and stands_out(text[start:end])  # nothing but a space joins it to its name
        if join["gap"] is not None and not (alone or (kind == "pin" and not name.group().isascii())):
            continue
        if looks_secret(
            text[start:end], kind, quoted=not raw, sign=join["sign"] or "", spaced=join.end() - name.end() > 1
        ):
            yield Secret(start, end, kind)
            at = end


_FLAGS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    # kind, words of which a text must hold one, what it looks like
    ("password", ("pass",), re.compile(
        r"(?<!\S)--?(?:\w{1,20}-)?(?:password|passwd|passphrase|pass)[ =]([^\s\"'-][^\s\"']{3,200}+"
        r"|\"[^\"\n]{4,200}\"|'[^'\n]{4,200}')"
    )),
    ("token", ("token", "key", "secret"), re.compile(
        r"(?<!\S)--?(?:\w{1,20}-)?(?:token|api-key|apikey|secret|secret-key"
        r"|access-key)[ =][\"']?([^\s\"'-][^\s\"']{7,512}+)"
    )),
    ("password", (" -p",), re.compile(
        r"\b(?:mysql|mysqldump|mariadb|7z|sshpass(?= -p ))\b[^\n"
        r"|;&]{0,80}? -p(?:(?<=sshpass -p) )?[\"']?([^\s\"'-][^\s\"']{3,200}+)"
    )),
    ("password", (" -u", " --user"), re.compile(
        r"\b(?:curl|wget|http)\b[^\n|;&]{0,120}? (?:-u|--user)[ =][\"']?[\w.@+-]{1,60}:([^\s\"']{3,200}+)"
    )),
    ("password", ("redis-cli",), re.compile(r"\bredis-cli\b[^\n|;&]{0,80}? -a ?[\"']?([^\s\"'-][^\s\"']{3,200}+)")),
)  # fmt: skip


def _flags(text: str) -> Iterator[Secret]:
    for kind, needed, flag in _FLAGS:
        for match in flag.finditer(text) if any(word in text for word in needed) else ():
            start, end = match.span(1)
            if text[start] in "\"'":
                start, end = start + 1, end - 1
            value = text[start:end]
            if not is_placeholder(value) and (varied(value) or len(value) > 20):
                yield Secret(start, end, kind)
