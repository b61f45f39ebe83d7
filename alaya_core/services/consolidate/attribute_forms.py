"""The forms in which people tell an attribute of a thing, Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from alaya_core.services.distill.cues import listed


@dataclass(frozen=True, slots=True)
class Form:
    """A form of clause.

    Attributes:
        pattern: Matches a whole clause; has groups `subject` and `value`, and `name` where the clause names it.
        name: The attribute; empty if the clause names it.
        names: What the words in group `name` mean.
    """

    pattern: re.Pattern[str]
    name: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


SINGLE = frozenset(
    {"port", "version", "host", "address", "lives_in", "works_at", "deadline", "leader", "status", "birthday"}
    | {"timezone", "budget", "timeout", "limit", "name", "age", "branch", "role", "price"}
)
"""Attributes of which a thing has one value at a time; the others may have many (`likes`, `uses`, `email` ...)."""

_NOUNS_EN = {
    "port": "port",
    "port number": "port",
    "version": "version",
    "host": "host",
    "hostname": "host",
    "address": "address",
    "ip": "address",
    "ip address": "address",
    "url": "address",
    "name": "name",
    "birthday": "birthday",
    "deadline": "deadline",
    "due date": "deadline",
    "budget": "budget",
    "timeout": "timeout",
    "limit": "limit",
    "quota": "limit",
    "time zone": "timezone",
    "timezone": "timezone",
    "leader": "leader",
    "lead": "leader",
    "tech lead": "leader",
    "owner": "leader",
    "manager": "leader",
    "maintainer": "leader",
    "status": "status",
    "default branch": "branch",
    "role": "role",
    "job title": "role",
    "price": "price",
    "age": "age",
    "email": "email",
    "e-mail": "email",
    "phone": "phone",
    "phone number": "phone",
}
_NOUNS_ZH = {
    "端口": "port",
    "端口号": "port",
    "版本": "version",
    "版本号": "version",
    "主机": "host",
    "地址": "address",
    "域名": "address",
    "名字": "name",
    "生日": "birthday",
    "截止日期": "deadline",
    "截止时间": "deadline",
    "截止": "deadline",
    "预算": "budget",
    "超时": "timeout",
    "超时时间": "timeout",
    "上限": "limit",
    "配额": "limit",
    "时区": "timezone",
    "负责人": "leader",
    "组长": "leader",
    "状态": "status",
    "价格": "price",
    "年龄": "age",
    "职位": "role",
    "邮箱": "email",
    "电话": "phone",
    "手机": "phone",
    "手机号": "phone",
}
_S = r"(?P<subject>\S.{0,60}?)"
_V = r"(?P<value>\S.{0,50}?)"
_NOW = r"(?:\ (?:now|currently|still|always))?"
_EN = "|".join(sorted(_NOUNS_EN, key=len, reverse=True))
_ZH = "|".join(sorted(_NOUNS_ZH, key=len, reverse=True))
_IS_ZH = r"(?:现在|目前|已经?|就)?(?:是|为|在|改成了?|改为|换成了?|变成了?|定在|[:：=])"
_STATUS_EN = (
    r"(?P<value>down|up|online|offline|deprecated|archived|finished|done|complete|blocked|paused|active|inactive"
    r"|enabled|disabled|running|stopped|open|closed|live|frozen|cancelled|shipped|in\ beta|in\ production)"
)
_STATUS_ZH = r"(?P<value>上线|下线|停用|启用|弃用|归档|暂停|完成|恢复|关闭|开放|冻结|取消|发布)"


def _form(pattern: str, name: str = "", names: Mapping[str, str] | None = None) -> Form:
    return Form(re.compile(pattern, re.VERBOSE | re.IGNORECASE), name, names or {})


FORMS: tuple[Form, ...] = (
    _form(rf"(?:the\ )?(?P<name>{_EN})\ (?:of|for)\ {_S}{_NOW}\ (?:is|=){_NOW}\ {_V}", names=_NOUNS_EN),
    _form(rf"{_S}(?:'s)?\ (?P<name>{_EN})(?:{_NOW}\ is{_NOW}|\ ?[:=])\ {_V}", names=_NOUNS_EN),
    _form(
        rf"{_S}{_NOW}\ (?:listens|runs|answers|is|is\ reachable|is\ available|is\ served|serves){_NOW}\ (?:on|at)"
        r"\ (?:the\ )?port\ (?P<value>\d{2,5})",
        "port",
    ),
    _form(rf"{_S}{_NOW}\ listens{_NOW}\ on\ (?P<value>\d{{2,5}})", "port"),
    _form(
        rf"{_S}{_NOW}\ (?:runs|lives|is\ hosted|is\ deployed|sits){_NOW}\ (?:on|at)\ (?:(?:the\ )?(?:host|server)\ )"
        r"(?P<value>[\w.:-]+)",
        "host",
    ),
    _form(rf"{_S}{_NOW}\ is\ (?:hosted|deployed){_NOW}\ (?:on|at)\ (?P<value>[\w.:-]*[\d.][\w.:-]*)", "host"),
    _form(rf"{_S}{_NOW}\ (?:is\ (?:at|on)|runs|uses)\ version\ (?P<value>v?\d[\w.-]*)", "version"),
    _form(rf"{_S}{_NOW}\ (?:lives?|resides?|(?:is|are)\ (?:living|based)){_NOW}\ in\ {_V}", "lives_in"),
    _form(
        rf"(?P<subject>用户|我)(?:已经|刚刚?|最近|上个?[月周年])?(?:搬到|搬去|搬家到)了?{_V}(?:去|来)?住?", "lives_in"
    ),
    _form(rf"{_S}{_NOW}\ (?:works|is\ employed|is\ working){_NOW}\ (?:at|for)\ {_V}", "works_at"),
    _form(
        rf"(?P<value>[A-Z\u3400-\u9fff][\w .-]{{0,30}}?){_NOW}\ (?:leads|owns|manages|maintains|heads)"
        rf"\ {_S}",
        "leader",
    ),
    _form(rf"{_S}{_NOW}\ is{_NOW}\ (?:led|owned|managed|maintained|headed)\ by\ {_V}", "leader"),
    _form(
        rf"(?P<value>[A-Z][\w .-]{{0,30}}?)\ is{_NOW}\ the\ (?:tech\ )?(?:lead|leader|owner|manager|maintainer|head)"
        rf"\ (?:of|for)\ {_S}",
        "leader",
    ),
    _form(rf"{_S}{_NOW}\ is{_NOW}\ due\ (?:on\ |by\ )?{_V}", "deadline"),
    _form(rf"{_S}{_NOW}\ is{_NOW}\ {_STATUS_EN}", "status"),
    _form(rf"{_S}{_NOW}\ is{_NOW}\ allergic\ to\ {_V}", "allergic"),
    _form(rf"{_S}{_NOW}\ uses{_NOW}\ {_V}", "uses"),
    _form(rf"{_S}(?:\ really|\ also)?\ (?:likes|loves|enjoys|prefers)\ {_V}", "likes"),
    _form(rf"{_S}(?:\ really|\ also)?\ (?:hates|dislikes|loathes)\ {_V}", "dislikes"),
    _form(rf"{_S}(?:的)?(?P<name>{_ZH}){_IS_ZH}\s*{_V}", names=_NOUNS_ZH),
    _form(rf"{_S}(?:的)?(?P<name>端口号?)\s*(?P<value>\d{{2,5}})", names=_NOUNS_ZH),
    _form(rf"{_S}(?:现在|目前)?监听(?:在)?(?:端口)?\s*(?P<value>\d{{2,5}})(?:\s*端口)?", "port"),
    _form(
        rf"{_S}(?:现在|目前)?(?:跑|运行|部署|放|托管)在\s*(?P<value>[\w.:-]*[A-Za-z\d][\w.:-]*)"
        r"\s*(?:上|上面|这台)?",
        "host",
    ),
    _form(rf"{_S}(?:现在|目前|一直)?(?:住在|家住|定居在?|常驻){_V}", "lives_in"),
    _form(rf"{_S}(?:现在|目前)?在(?P<value>[^，。]{{2,20}}?)(?:上班|任职|就职)", "works_at"),
    _form(
        rf"{_S}(?:现在|目前)?在(?P<value>[^，。]{{1,20}}?(?:公司|集团|银行|医院|学校|大学|学院|研究所|研究院|[A-Za-z]))\s*工作",
        "works_at",
    ),
    _form(rf"{_S}(?:现在|目前)?(?:就职|任职|供职)于{_V}", "works_at"),
    _form(rf"{_S}(?:现在|目前)?(?:由|归)(?P<value>[^，。]{{1,10}}?)(?:负责|管|维护|带)", "leader"),
    _form(r"(?P<value>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:现在|目前)?负责(?P<subject>[^，。]{2,20})", "leader"),
    _form(rf"{_S}(?:现在|目前|已经)?(?:已)?{_STATUS_ZH}", "status"),
    _form(rf"{_S}对{_V}(?:严重)?过敏", "allergic"),
    _form(rf"{_S}(?:现在|目前)?(?:在用|使用|采用){_V}", "uses"),
    _form(rf"{_S}(?:很|最|特别|非常|也|更)?(?:喜欢|爱吃|爱喝|偏好){_V}", "likes"),
    _form(rf"{_S}(?:很|最|特别|非常|也)?(?:讨厌|反感|受不了){_V}", "dislikes"),
)
COUNTRIES = listed(
    """germany france spain portugal italy austria switzerland netherlands belgium denmark sweden norway finland poland
      greece turkey russia china japan korea india singapore thailand vietnam australia canada mexico brazil argentina
      chile egypt kenya uk england scotland ireland usa us america
      中国 日本 韩国 德国 法国 英国 美国 加拿大 澳大利亚 新加坡 意大利 西班牙 荷兰 瑞士 瑞典 俄罗斯 泰国 印度"""
)
"""Who lives in one of these may live in any town of it."""
IN_A_LIST = re.compile(
    r"(?:its\ |the\ |on\ )?(?:port(?:\ is|:)?\ (?P<port>\d{2,5})|host(?:\ is|:)?\ (?P<host>[\w.:-]+)"
    r"|version(?:\ is|:)?\ (?P<version>v?\d[\w.-]*))",
    re.VERBOSE | re.IGNORECASE,
)
"""A further attribute of what the clause before it spoke of: `..., port 5433`."""
MAY_TELL = re.compile(
    r"\b(?:is|are|listens?|runs?|answers?|lives?|resides?|works?|leads?|owns?|manages?|maintains?|heads?|uses?|likes?"
    r"|loves?|enjoys?|prefers?|hates?|dislikes?|loathes?|serves|sits|use|am)\b|['’]m\b|[:=：]|[是为在]|改成|换成|变成|端口|监听"
    r"|住|搬|任?就?职于|负责|[由归]|过敏|使用|采用|喜欢|爱|偏好|讨厌|反感|受不了"
    r"|上线|下线|停用|启用|弃用|归档|暂停|完成|恢复|关闭|开放|冻结|取消|发布",
    re.IGNORECASE | re.VERBOSE,
)
"""Without one of these a sentence tells no attribute; looked for first because it is fast."""
