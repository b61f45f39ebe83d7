"""Who a sentence speaks of: bare pronouns found and resolved, the first person turned into the speaker's name."""

from __future__ import annotations

import re

from alaya_core.services.distill.cues import listed
from alaya_core.services.distill.cues_zh import KIN

_LEADS = (
    r"(?:(?:so+|and|but|also|then|because|since|well|ok(?:ay)?|yeah|yes|no|now|however|actually|basically|therefore"
    r"|thus|hence|still|plus|otherwise|instead|though|although|if|when|apparently|maybe|probably|i\ think|i\ guess"
    r"|i\ believe|i\ feel\ like|iiuc|iirc|afaik|tbh|imo|sadly|luckily|by\ the\ way|btw|remember\ that|note\ that"
    r"|importantly),?\s+)*"
)
_VERB = (
    r"(?:is|are|was|were|isn't|aren't|wasn't|weren't|will|won't|would|wouldn't|should|shouldn't|can|can't"
    r"|cannot|could|couldn't|must|may|might|has|hasn't|had|have|haven't|does|doesn't|do|don't|did|didn't"
    r"|means|makes|made|lets|allows|causes|caused|needs|works|worked|happens|happened|takes|took|gets|got|gives"
    r"|gave|goes|looks|seems|breaks|broke|fails|failed|explains|also|only|just|never|always|actually"
    r"|really|still|now|all|both|then|too|already|probably|not|way|said|says|keeps|helps|helped|fixes|fixed"
    r"|turned|turns|ensures|returns|uses|used|requires|saves|saved|prevents|\w+ed|'s|’s|'re|'ll|'d)"
)
_BARE_EN = re.compile(
    rf"^[\"'“(]?{_LEADS}(?:(?:it|they|he|she)(?:\b|'|’)|(?:its|their|his|her|theirs|hers)\b|(?:this|that|these"
    rf"|those)(?:['’]\w+|\ {_VERB}\b|\s*[,.:;]|\s*$)|(?:needs?|has|have|must|should|could|would|is|are|was|were"
    r"|isn't|doesn't|didn't|looks|seems|works|makes|gets|means)\ (?:to|be|not|also|like|fine|good|the|a|an)\b"
    r"|(?:both|neither|either|the\ (?:former|latter|same))\b(?!\ \w+\ (?:and|or|nor)))",
    re.IGNORECASE | re.VERBOSE,
)
_EXPLETIVE = re.compile(
    rf"^{_LEADS}it(?:\ (?:turns|turned)\ out|(?:\ is|'s|’s|\ was)\ (?:important|better|best|essential|crucial"
    r"|critical|necessary|worth|easier|safer|clear|known)\b|\ (?:seems|appears|looks\ like)\b)",
    re.IGNORECASE | re.VERBOSE,
)
_ZH_LEADS = (
    r"(?:(?:所以|但是?|而且|因为|由于|另外|然后|不过|其实|结果|因此|如果|当|可是|并且|也就是说|我觉得|我认为|记住"
    r"|注意|原来|那么|于是|同时)[，,]?)*"
)
_BARE_ZH = re.compile(
    rf"^[“「（(]?{_ZH_LEADS}(?:[它他她]们?(?!人)|其(?![实他它中余次])|(?:这|那|此)(?:个|些|样|种|里|边|时|次"
    r"|一点)?(?=[，,。：:我你是就不没都也在要能可应必导让使有对意说表只还才很太比已被跟与因将把会又更最挺特真确]"
    r"|$))"
)
_POINTER = re.compile(
    r"(?<![\w'’])(?:he|she|him|her|his|hers|they|them|it|its|this|that(?=[ ,.]*$|\ one\b))\b(?!\ (?:rains"
    r"|takes\b.*\bto))"
    r"|[他她它]们?(?!人)|(?:这|那)(?:个|些|样|种|里|边|件事|点|条)?(?=[，,。：:是就不没也在要能我你用放说]|$)",
    re.IGNORECASE | re.VERBOSE,
)
_NAMED = re.compile(r"`|[a-z][\w-]*[\ ,].*|[\u3400-\u9fff]{2,}[，、的说是在和对]", re.IGNORECASE)
_IT = re.compile(rf"^({_LEADS})(?:it|this|that)\b(?!\ (?:turns\ out))", re.IGNORECASE)
_IT_ZH = re.compile(rf"^({_ZH_LEADS})(?:它|这个|那个|这|那)")

_PAST = listed(
    """bought sold met got made took saw ran won lost left felt kept built began broke brought chose came drove ate
      fell flew forgot
    gave grew heard knew led paid read said sent spent spoke stood taught told thought understood woke wore wrote
      quit put set let
    cut went had was were did could would should might must can will may used sat slept swam sang threw found held
      hurt became"""
)
_ADVERB = re.compile(
    r"^(?:no|longer|really|also|even|once|both|all|already|almost|always|usually|generally|never|still|just|mostly|often|only"
    r"|actually|currently|personally|strongly|much|absolutely|finally|recently|now|sometimes|rarely|truly|\w+ly)$"
)  # fmt: skip
_PLAIN = re.compile(r"([a-z]+|don't|haven't)[.,;:!?]*$")
_SELF = re.compile(r"(?<![\w.`/-])(I|my|me)(?![\w.-])(['’]\w+)?", re.IGNORECASE)
# The speaker is named once; after that they are `they`.
_THEY = (
    (r"\b[Ii] was\b", "they were"),
    (r"\b[Ii]['’]m\b", "they're"),
    (r"\b[Ii](?=['’](?:ve|d|ll)\b)", "they"),
    (r"(?<![\w.`/-])[Ii] am\b", "they are"),
    (r"(?<![\w.`/-])[Ii](?= [a-z])", "they"),
    (r"\bmy\b", "their"),
    (r"(?<![\w.`-])me\b(?![\w.-])", "them"),
    (r"\bmyself\b", "themselves"),
    (r"\bmine\b", "theirs"),
)
# `Lost my passport in Hanoi`: the speaker is the subject.
_ELIDED = re.compile(
    r"^(?:lost|bought|moved|booked|passed|failed|got|started|finished|had|broke|sold|met|found|left|quit"
    r"|switched|cancelled"
    r"|signed|ordered|tried|took|went|renewed|forgot|can't|cannot|don't|won't|will|am|have|prefer|hate|love|need"
    r"|want)\b"
    r"(?=.*\b(?:my|me|myself)\b|\ (?:the|an?|to)\b)",
    re.IGNORECASE | re.VERBOSE,
)
_FIRST_EN = re.compile(
    r"\b(?:I|I'm|I've|I'd|I'll|i|i'm|i've|i'd|i'll|my|me|mine|myself|we|we're|we've|we'll|our|ours|us)\b|\bI[’']",
    re.IGNORECASE,
)
_FIRST_ZH = re.compile(r"我|咱|本人")
_CJK = re.compile(r"[\u3400-\u9fff]")


def is_chinese(text: str) -> bool:
    """Whether a sentence is to be read as Chinese: a fifth of its letters."""
    return 5 * len(_CJK.findall(text)) >= sum(char.isalpha() for char in text) > 0


def is_bare(text: str) -> bool:
    """Whether the subject of a sentence is a pronoun that names nothing."""
    if _EXPLETIVE.match(text):
        return False
    return bool(_BARE_EN.match(text) or _BARE_ZH.match(text))


def leans(text: str) -> bool:
    """Whether a sentence needs what was said before it: a third person or a thing pointed at that it does not name."""
    match = _POINTER.search(text)
    return bool(match) and not _NAMED.search(text[: match.start() if match else 0])


def named(text: str, name: str) -> str | None:
    """The sentence with its bare `it` replaced by a name; None if that is not how it begins."""
    for pattern in (_IT, _IT_ZH):
        match = pattern.match(text)
        if match:
            joiner = "" if pattern is _IT or not name[-1:].isascii() else " "
            rest = text[match.end() :]
            return f"{match[1]}{name}{joiner}{rest}" if not is_bare(f"{name} {rest}") else None
    return None


def speaks_of_self(text: str) -> bool:
    """Whether the speaker is in it."""
    return bool(_FIRST_EN.search(text) or _FIRST_ZH.search(text))


def quoted(text: str, who: str, who_zh: str) -> str:
    """A sentence in the first person, said by somebody; the words stay exactly as they were."""
    if not speaks_of_self(text):
        return text
    return f"{who_zh}说：“{text}”" if is_chinese(text) else f'{who} said: "{text}"'


def third_person(text: str, who: str, who_zh: str) -> str:
    """A title's sentence told of its speaker."""
    return _third_zh(text, who_zh) if is_chinese(text) else _third_en(text, who)


def _third_zh(text: str, who: str) -> str:
    gap = " " if who[-1:].isascii() else ""
    text = re.sub(r"^(?:我们|咱们|咱)(?=[^，。]{0,8}(?:决定|选|改用|采用|用|打算|统一|定))", "", text)
    text = re.sub(r"^(?:我们|咱们)的", f"{who}的", text)
    if re.match(r"^(?:我们|咱们)", text):
        return f"{who}：{text}"
    text = re.sub(rf"我(?=(?:大|小|前|新|好)?{KIN})", f"{who}的", text)
    text = re.sub(r"我(?!们|国|校)", f"{who}{gap}", text)
    text = text.replace("本人", who).replace(f"{who}{gap}的", f"{who}的")
    if gap:
        text = re.sub(rf"(?<=[\u3400-\u9fff]){re.escape(who)}", f" {who}", text)
        text = re.sub(rf"{re.escape(who)} (?=[、，。：；！？」』”）]|$)", who, text)
    return text


def _third_en(text: str, who: str) -> str:
    text = re.sub(
        r"^(?:we|i(?!\ agreed\ to))(?:'ve|’ve|\ have|'re|’re|\ are|'m|\ am)?(?:\ (?:just|finally|now|all"
        r"|both))?\ (?=(?:decided"
        r"|agreed|settled|opted|concluded|going\ with|sticking\ with|switching|migrating|dropping|adopting"
        r"|moving\ (?:to|off)\ [A-Z])\b)",
        "", text, flags=re.IGNORECASE | re.VERBOSE,
    )  # fmt: skip
    if re.match(r"^our\b", text, re.IGNORECASE):
        text = f"{who}'s{text[3:]}"
    elided = _ELIDED.match(text)
    if elided:
        text = f"I {text[:1].lower()}{text[1:]}"
    if re.match(r"^(?:we|us)\b", text, re.IGNORECASE):
        return f"{who}: {text[:1].lower()}{text[1:]}"
    match = _SELF.search(text)
    if match:
        before, after = text[: match.start()], text[match.end() :]
        said = match[1].lower()
        if said == "i":
            after = f" {_verb(match[2] or '', after.lstrip())}"
        text = f"{before}{who}{chr(39) + 's' if said == 'my' else ''}{after}"
    else:
        text = re.sub(r"\bmine\b", f"{who}'s", text, count=1)
    for pattern, swap in _THEY:
        text = re.sub(pattern, swap, text)
    return text


def _verb(clitic: str, rest: str) -> str:
    """What follows `I`, fit to follow a name."""
    forms = {"m": "is", "ve": "has", "d": "would", "ll": "will"}
    if clitic[1:].lower() in forms:
        return f"{forms[clitic[1:].lower()]} {rest}"
    words = rest.split(" ")
    if words[0].lower() in ("and", "or"):
        return rest
    habit = False
    for index, word in enumerate(words[:3]):
        low = word.lower()
        habit = habit or low in ("usually", "always", "often", "sometimes", "never", "generally")
        if _ADVERB.match(low) and low not in ("apply", "reply", "rely", "fly", "supply"):
            continue
        verb = _PLAIN.match(low)
        if verb:
            words[index] = _conjugated(verb[1], habit=habit) + word[verb.end(1) :]
        break
    return " ".join(words)


def _conjugated(verb: str, *, habit: bool) -> str:
    special = {"am": "is", "have": "has", "do": "does", "go": "goes", "don't": "doesn't", "haven't": "hasn't"}
    if verb in special:
        return special[verb]
    if (verb in _PAST and not (habit and verb in ("read", "put", "set", "let", "cut", "quit"))) or verb.endswith("ed"):
        return verb
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", verb) else "s")
