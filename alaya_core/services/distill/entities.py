"""Names in a sentence: identifiers, files, hosts, products, people and places in cue positions; and tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from alaya_core.services.distill.cues import listed

MOST = 8
MOST_TAGS = 5

_CODE = re.compile(r"`([^`\n]{1,60})`")
_QUOTED = re.compile(r"[「《『]([^」》』\n]{1,30})[」》』]")
_URL = re.compile(r"https?://([\w.-]{3,80})")
_SECRET = re.compile(r"\[secret:[\w-]+\]")
_IDENTIFIER = re.compile(
    r"""
    (?<![\w/.@-])(?:
      --[a-z][\w-]{1,40}                                                             # --flag
    | [\w-]{1,40}\.(?:py|ts|tsx|js|jsx|mjs|go|rs|java|kt|c|cc|cpp|h|rb|php|cs|sh|sql|md|json|ya?ml|toml|ini|cfg|conf
      |lock|css|scss|html?|txt|csv|xlsx?|pdf|docx?|env|log|db|tcss|xml)\b
    | [A-Za-z_]\w{0,30}(?:\.[A-Za-z_][\w-]{0,30}){1,4}(?:\(\))?                       # plugins.allow, db.internal
    | [a-z]+(?:[A-Z][a-z0-9]+)+(?:\(\))? | [A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+          # camelCase, CamelCase
    | [A-Za-z]\w*_\w+ | [A-Z]{2,}[A-Z0-9]*-\d+
      | [a-z]+(?:-[a-z0-9]+)*-\d+(?:\.[\w.-]+)?   # snake_case, ERR-42, db-stage-2
    | [a-z][a-z0-9]+(?:-[a-z0-9]+)*-(?:api|job|worker|server|service|client|db|notify|bot|cli|app|ui|core|sdk|lib|agent
      |proxy|cache|queue|sync|plugin|gateway|runner|exporter|importer|scheduler|router|engine|store|portal|site)
    | \d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?                                           # 10.2.0.17:3307
    )(?![\w@])
    """,
    re.VERBOSE,
)  # fmt: skip
_NOT_IDENTIFIER = re.compile(
    r"^(?:e\.g|i\.e|a\.m|p\.m|etc|vs|\w\.\w|.*\d-\d.*|\w+\.(?:i|we|it|the|and|but|so|you))$", re.IGNORECASE
)
_PROPER = re.compile(r"(?<![\w.`/@-])[A-Z][\w&'’-]*(?:\ (?:of|de|van|der|von|the|al)(?=\ [A-Z])|\ [A-Z][\w&'’.-]*)*")
_COMMON = listed(
    """i i'm i've i'll i'd ok okay yes no the a an and but so if when my our we you it this that these those he she
      they his her
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
      september october
    november december important remember note never always please turns root decision fix warning fyi btw also
      because after
    before for from in on at to with by today yesterday tomorrow last next recently actually let's don't what why
      how who where
    thanks hi hello hey wow done all every each some no not just use make keep two three there here then now found
      quick call
    first second windows's however otherwise its their your to-do ai api id ui url json html css http https pr ci
      tv am pm lol ps sometimes although yep yeah yup well oh unfortunately luckily being having
    mb gb kb tb ms mhz ghz iu oom pc nas lan wan ssd ram cpu gpu usb"""
)  # fmt: skip
_TECH = listed(
    "postgres postgresql mysql sqlite redis mongo mongodb kafka rabbitmq elasticsearch clickhouse docker "
    "kubernetes k8s nginx aws gcp azure terraform ansible jenkins github gitlab git "
    "python django flask fastapi pandas numpy pytorch tensorflow javascript typescript node react vue svelte "
    "angular nextjs vite webpack pnpm npm yarn bun deno java kotlin spring rust golang "
    "swift flutter android ios linux macos windows ubuntu debian grafana prometheus celery graphql grpc "
    "websocket oauth jwt ssh tls cron bash zsh vim neovim vscode emacs tmux telegram discord "
    "slack whatsapp wechat feishu notion obsidian figma excel jira stripe shopify supabase firebase vercel "
    "cloudflare s3 lambda hadoop airflow dbt snowflake openai claude gpt rag embedding css html sql yaml json"
)
_TECH_WORD = re.compile(
    r"(?<![A-Za-z0-9_.])(?:" + "|".join(map(re.escape, sorted(_TECH, reverse=True))) + r")(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_ZH_NAME = re.compile(
    r"(?:我|他|她|名字|妈|爸|哥|姐|弟|妹|儿子|女儿|友|公|婆|狗|猫|同事|老师|老板|领导"
    r"|孩子)(?:的名字)?(?:就)?(?:叫|是叫|名叫)(?:做)?([\u4e00-\u9fffA-Za-z·]{1,8}?)(?=[，。,；\s、]|$|的|今年"
    r"|在|是)"
    r"|[我]姓([\u4e00-\u9fff]{1,2})(?=[，。,])"
)
_ZH_PLACE = re.compile(
    r"(?:在|到|去|来自|从|住|位于|老家是?)((?![一这那某几两])[\u4e00-\u9fff]{2,6}?(?:市|省|区|县|镇|路|街道?"
    r"|机场|车站|大学|学院"
    r"|医院|公司|中学|小学|广场|公园|银行|大厦))(?!的人)"
)
_ZH_CITY = re.compile(
    r"北京|上海|广州|深圳|杭州|成都|重庆|武汉|南京|西安|苏州|天津|长沙|郑州|青岛|厦门|宁波|无锡|合肥|福州|济南"
    r"|大连|沈阳|哈尔滨|长春|昆明|贵阳|南宁|海口|三亚|拉萨|乌鲁木齐|兰州|银川|西宁|呼和浩特|太原|石家庄|南昌"
    r"|香港|澳门|台北|高雄|东京|大阪|首尔|新加坡|曼谷|伦敦|巴黎|柏林|纽约|旧金山|悉尼|多伦多|华西医院|协和医院"
)
# A hyphenated word inside Chinese is a name; in English it may be any adjective.
_ZH_LATIN = re.compile(r"(?<![\w./@-])[a-z][a-z0-9]+(?:-[a-z0-9]+)+(?![\w@])")
_ZH_CALLED = re.compile(
    r"(?:^|[，。、；：“「\s和跟给带送让叫陪])([阿小老](?![时心说孩学区组师板家婆公是姨吃费型人猫狗朋大事米伙麦路雪型额程字票店年月明道气外实])"
    r"[\u4e00-\u9fff])(?=[的对不说也在是有会要想喜今上去负来、，画吃喝走怕爱])"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|isn't|aren't|has|have|had|uses?|runs?|lives?|costs?|takes?|needs?|requires?"
    r"|supports?|contains?|belongs?|handles?|returns?|stores?|sends?|expects?|means|owns?|depends|comes|goes"
    r"|works?|starts?|ends?|opens?"
    r"|closes?|reads|writes|speaks|serves|holds?|allows?|lasts?|pays?|includes?|covers?|ships?|syncs?|caches?"
    r"|moved|became|doubled|won't|can't|cannot|only|never|always)\b",
    re.IGNORECASE,
)
_ZH_VERB = re.compile(r"[是有在用叫由归]|需要|支持|采用|负责|属于|包含|依赖|位于|使用|要求|会|花|占|等于|来自|存|跑|写")
_OPENER = re.compile(
    r"^(?:i|we|you|it|this|that|they|he|she|these|those|there|here|let|if)\b|^(?:我|你|它|他|她|这|那|如果)",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3400-\u9fff]")
_TOPICS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (tag, re.compile(pattern, re.IGNORECASE))
    for tag, pattern in (
        ("food",
            r"\b(?:eat|food|cook\w*|coffee|tea|diet|restaurant|vegan|vegetarian|meal|dinner|lunch)\b|吃|喝|餐|饭|菜"
            r"|咖啡|素食|忌口"
        ),
        ("work",
            r"\b(?:job|boss|manager|colleague|company|office|salary|promot\w+)\b|工作|公司|上班|同事|老板|入职|离职"
        ),
        ("family",
            r"\b(?:wife|husband|partner|son|daughter|mother|father|mom|dad|sister|brother|kids?)\b|妈妈|爸爸|老婆"
            r"|老公|儿子|女儿|家人|女朋友|男朋友|父母"
        ),
        ("travel", r"\b(?:flight|trip|travel\w*|vacation|hotel|airport)\b|航班|旅行|旅游|出差|机票|酒店"),
        ("testing", r"\b(?:tests?|e2e|unit[ -]test\w*|coverage)\b|测试|用例"),
        ("deployment", r"\b(?:deploy\w*|release|rollback|staging|production|prod)\b|部署|上线|发布|回滚|线上"),
        ("database", r"\b(?:database|db|sql|transactions?|migration|replica)\b|数据库|主库|副本|索引"),
        ("performance", r"\b(?:slow|latency|p9\d|bottleneck|faster|throughput|performance)\b|性能|延迟|耗时|慢"),
        ("security", r"\b(?:security|api key|credentials?|password|permission|vulnerab\w+)\b|安全|密码|密钥|权限|漏洞"),
        ("style", r"\b(?:comments?|emojis?|naming|tone|concise|formatting)\b|注释|语气|格式|命名|简洁"),
    )
)  # fmt: skip
_CUE_TAGS = {
    "health": "health",
    "safety": "safety",
    "root-cause": "root-cause",
    "fix": "fix",
    "people": "people",
    "standing": "instruction",
    "ops": "ops",
}


def entities(text: str, known: Iterable[str] = ()) -> tuple[str, ...]:
    """The names in a text, in order of kind then place, at most eight."""
    seen: dict[str, str] = {}
    for name in _names(_SECRET.sub(" ", text)):
        name = name.strip(" .,;:!?'’\"").removesuffix("()")
        if 1 < len(name) <= 60 and name.casefold() not in _COMMON:
            seen.setdefault(name.casefold(), name)
    folded = text.casefold()
    for name in known:
        if len(name) > 1 and name.casefold() in folded:
            seen.setdefault(name.casefold(), name)
    return tuple(seen.values())[:MOST]


def _names(text: str) -> Iterator[str]:
    yield from (match[1] for match in _CODE.finditer(text) if not match[1].isspace())
    yield from (match[1] for match in _QUOTED.finditer(text))
    bare = _CODE.sub(" ", text)
    yield from (match[1] for match in _URL.finditer(bare))
    bare = _URL.sub(" ", bare)
    for match in _IDENTIFIER.finditer(bare):
        if not _NOT_IDENTIFIER.match(match.group()):
            yield match.group()
    yield from (match.group() for match in _TECH_WORD.finditer(bare))
    yield from (match[1] or match[2] for match in _ZH_NAME.finditer(bare))
    yield from (match[1] for match in _ZH_CALLED.finditer(bare))
    if _CJK.search(bare):
        yield from (match.group() for match in _ZH_LATIN.finditer(bare))
    yield from (match[1] for match in _ZH_PLACE.finditer(bare))
    yield from (match.group() for match in _ZH_CITY.finditer(bare))
    yield from _proper(_IDENTIFIER.sub(" ", bare))


def _proper(text: str) -> Iterator[str]:
    """Capitalised names; one word at the start of a sentence is not enough."""
    for match in _PROPER.finditer(text):
        name = re.sub(r"['’]s$", "", match.group())
        words = name.split()
        while words and words[0].casefold() in _COMMON:
            words = words[1:]
        while words and words[-1].casefold().rstrip(".") in _COMMON:
            words = words[:-1]
        if not words:
            continue
        at_start = not text[: match.start()].strip(" -*\"'“(") or text[: match.start()].rstrip()[-1:] in ".!?:"
        if at_start and len(words) == 1 and len(name.split()) == 1:
            continue
        yield " ".join(words)


def is_specific(text: str) -> bool:
    """Whether a sentence without any cue still states something about a named thing."""
    if _OPENER.match(text):
        return False
    named = bool(entities(text)) or bool(re.search(r"\d", text))
    if _CJK.search(text):
        return named and len(text) >= 10 and bool(_ZH_VERB.search(text))
    return named and len(text.split()) >= 5 and bool(_VERB.search(text))


def verbal(text: str) -> bool:
    """Whether a sentence has a verb that states something."""
    return bool(_VERB.search(text) or (_CJK.search(text) and _ZH_VERB.search(text)))


def tags(text: str, cues: Iterable[str]) -> tuple[str, ...]:
    """A few lower-case tags: what kind of cue, which technology, which topic."""
    found: dict[str, None] = {}
    for name in cues:
        if name in _CUE_TAGS:
            found[_CUE_TAGS[name]] = None
    for match in _TECH_WORD.finditer(text):
        found[match.group().casefold()] = None
    for tag, pattern in _TOPICS:
        if pattern.search(text):
            found[tag] = None
    return tuple(found)[:MOST_TAGS]
