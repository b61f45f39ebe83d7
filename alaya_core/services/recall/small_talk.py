"""Greetings, thanks, praise, assent, laughter, farewells: texts that are made of them and of small words alone."""

from __future__ import annotations

import re

from alaya_core.services.recall.noise import noise_of, plain_words

_PRAISE = (
    "good|great|nice|fine|cool|perfect|awesome|amazing|excellent|brilliant|lovely|wonderful|fantastic|superb|sweet|neat"
    "|beautiful|gorgeous|impressive|incredible|outstanding|stunning|flawless|magnificent|super"
)
_PHRASES = f"""
heya|hallo|hola|ola|sup|wassup|gm|gn|mornin|morning|evening|gday|long time no see|i am back|im back|back again|me again
bonjour|bonsoir|salut|coucou|buenos dias|buenas tardes|buenas noches|guten morgen|guten tag|guten abend|moin|servus
ciao|привет|こんにちは|こんばんは|おはようございます|おはよう|안녕하세요|안녕
嘿|嗨|哈罗|早上好|上午好|中午好|下午好|晚上好|早安|你好|您好|又是我|我又来了|又见面了|回来|来啦|来了|周末愉快|新年好|节日快乐
bye bye|cya|see you|see ya|later|laters|ttyl|brb|afk|gtg|g2g|take care|signing off|logging off|peace out|farewell
good night|goodnight|next time|take it easy|keep in touch|night night|nite|call it a day|calling it a day|until tomorrow
au revoir|a bientot|adios|hasta luego|auf wiedersehen|tschuss|さようなら|おやすみなさい|おやすみ|またね|88|886
再见|拜拜|回见|回聊|晚安|下线|下班|去吃饭|吃饭去|去睡觉|睡觉去|去睡|睡了|撤了|溜了|走了|先忙|先撤|先下|去忙|休息
thanks|thank you|thank u|thx|thnx|thanx|tnx|tks|ty|tysm|tyvm|cheers|3q|a million|a bunch|a ton|in advance|appreciated
appreciate it|appreciate that|grateful|means a lot|my bad|sorry|sry|no worries|no rush|not a problem|anytime
take your time|my pleasure|merci|de rien|muchas gracias|gracias|de nada|danke|danke schon|danke sehr|vielen dank
beaucoup|bitte|obrigado|obrigada|grazie|спасибо|ありがとうございました|ありがとうございます|ありがとう|どうも|お疲れ样でした|お疲れ样です|お疲れ样
감사합니다|谢谢|谢了|谢啦|谢过|多谢|感谢|感激|蟹蟹|辛苦|有劳|麻烦你|麻烦您|大忙|不客气|不谢|不用谢|别客气|抱歉|不好意思|爱你|比心|么么哒
{_PRAISE}|bravo|kudos|congrats|congratulations|hats off|well done|well played|gg|spot on|on point|top notch|nailed it
you rock|love it|love this|love that|impressed|much better|even better|way better|right|correct|good point|good catch
yyds|nb|tres bien|parfait|genial|perfecto|muy bien|sehr gut|prima|すごい|さすが|完璧
不错|牛|牛逼|牛批|厉害|太强|真强|好强|棒|点赞|很赞|太赞|漂亮|优秀|完美|精彩|给力|靠谱|绝了|太绝|太神|神了|太酷|太帅|爱了|挺好
很好|真好|太好|更好|真行|真快|太快|好快|很快|这么快|挺快|惊艳|了不起|佩服|膜拜|有意思|有趣|很专业|太专业|真专业|太贴心|真聪明|太聪明
满意|很清楚|很清晰|很有用|太有用|很有帮助
okey|okie|oki|okk|dokey|dokie|kk|alrighty|righto|ya|yah|yea|yess|aye|uh huh|mhm|mm|absolutely|definitely|certainly
exactly|precisely|indeed|of course|for sure|agreed|i agree|approved|approve|confirmed|confirm|accepted|accept|noted
gotcha|got you|copy that|roger that|will do|you bet|you got it|fair enough|true|works for me|fine by me|fine with me
ok with me|ok by me|all good|all set|good to go|that is enough|thats enough|thats all|makes sense|i get it|i see
no need|not needed|not now|nah|nvm|never mind|forget it|whatever|up to you|your call|you decide|either way|ship it|stop
cancel|abort|wait|hold on|hang on|one sec|one second|one moment|one minute|daccord|ca marche|vale|claro|alles klar
genau|klar|はい|了解です|了解しました|大丈夫です|大丈夫|オッケー|よろしくお愿いします|よろしく|네
好滴|好哒|好咧|好勒|好耶|好嘞|没毛病|没错|没意见|没关系|没事|没问题|收到|明白|了解|知道|晓得|懂了|懂啦|同意|赞同|批准|认可|确认
确实|确定|当然|必须的|有道理|说得对|说的对|对头|正是|听你的|听您的|你定|您定|你决定|你看着办|随你|随便|照办|不用|不必|不需要|先不|算了
到此为止|打住|停|取消|等等|等一下|等会|稍等|搞定|妥了|稳了|就这个|就它
lmao|lmfao|rofl|lolol|xd|omg|omfg|wow|whoa|woah|yay|woohoo|hooray|yippee|holy moly|holy cow|damn|dang|oops|whoops|ouch
ugh|ah|aha|oh|ooh|oof|phew|eh|meh|huh|jeez|gosh
哈|嘿嘿|呵呵|嘻嘻|笑死|笑哭|笑喷|笑了|好笑|搞笑|绷不住|呜呜|哇|哇塞|哇噻|哇哦|天哪|天呐|天啊|我靠|卧槽|妈呀|好家伙
go on|go ahead|go for it|carry on|keep going|keep it up|keep at it|move on|moving on|continue|proceed|onward|lets go
let us go|start now|next one|next step|next part|next section|next page|to the next|on it|fire away|adelante|weiter
continuez|続けてください|続けて|继续|开始|动手|执行|开工|开干|开整|开搞|冲|走起|走着|搞起|加油|安排上|安排吧|下一个|下一条|下一步|下一段
下一页|下一章
"""  # greetings, farewells, thanks, praise, assent, laughter, going on; without tone marks and in simplified characters
_TIME = "day|morning|afternoon|evening|night|weekend|week|time|one|holiday|trip"
_VERY = r"(?:(?:so|very|really|super|pretty|quite|too|just|absolutely|truly|a|the|an|real|true|total|absolute)\ ){0,2}"
_PATTERNS = rf"""
    (?<![a-z0-9])(?:
        (?:(?:that|it|this)\ )? (?:works|worked|helps|helped|makes\ sense|did\ the\ trick|does\ it
          |(?:fixed|solved|did)\ (?:it|that))
      | (?:that|it|this)s?\ (?:is\ |was\ )?{_VERY}(?:fast|quick|easy|helpful|useful|clear|funny|hilarious)
      | (?:looks|looking|sounds|seems|feels)\ {_VERY}(?:{_PRAISE}|right|ok|okay|correct|reasonable|like\ a\ plan)
      | (?:{_PRAISE}|hard)\ (?:job|work|one|idea|call|stuff|thinking|answer)
      | you(?:re|\ are|r)\ {_VERY}(?:{_PRAISE}|best|goat|legend|star|hero|genius|gem|angel|champ|wizard|life\ ?saver)
      | (?:keep|continue|start|begin|carry\ on|go\ on)\ (?:to\ )?
        (?:with|(?:do|go|try|work|build|test|fix|read|explain|talk)(?:ing)?|(?:writ|cod|mov|typ|generat)(?:e|ing)|running)
        (?:\ (?:on|at|with))? (?:\ (?:it|that|this))?
      | (?:do|try|run|use|send|apply)\ (?:it|that|this|so)
      | (?:lets|let\ us)\ (?:start|begin|continue|proceed|do\ (?:it|that|this))
      | (?:on\ |move\ on\ |go\ )to\ the\ next(?:\ (?:one|step|part|section|page))?
      | have\ an?\ (?:{_PRAISE})\ (?:{_TIME}) | (?:enjoy|happy)\ (?:(?:your|the)\ )?(?:(?:{_PRAISE})\ )?(?:{_TIME})
      | (?:nice|good|glad|happy|great|pleased|(?:a\ )?pleasure)\ (?:to\ )?(?:see|hear|meet|know|talk)(?:ing)?
        \ (?:to\ |with\ )?(?:you|it|that|this)
      | hope\ (?:you|all|everything|your\ (?:{_TIME}))\ (?:had|have|are\ having|are|is|was|slept|is\ going|went)
        \ {_VERY}(?:well|ok|okay|{_PRAISE})(?:\ (?:{_TIME}))?
      | (?:talk|speak|chat|see|catch)\ (?:(?:to|with)\ )?(?:(?:you|ya|u)\ )?(?:later|soon|around|tomorrow|next\ week)
      | (?:im|i\ am)\ (?:off|out|done|leaving|heading\ (?:out|off))
        (?:\ (?:to|for)\ (?:bed|lunch|dinner|sleep|now|today))?
      | (?:gotta|(?:got|have|need)\ to|must)\ (?:be\ |get\ )?(?:go(?:ing)?|run|leave|sleep|take\ off|head\ out)
      | for\ (?:all\ )?(?:of\ )?(?:the|your|that|this)\ (?:(?:quick|great|kind)\ )?
        (?:help|time|work|effort|answer|support|patience|tips?)
      | 6{{2,}} | 23{{2,}} | 5{{3,}} | 9{{3,}} | h{{2,}} | (?:ok){{2,}} | lo+l+ | (?:ha|he|hi|ja|xa){{2,}}h?
    )(?![a-z0-9])
    | (?:继续|接着|往下|开始|动手|放手|下一[个条步段页章])(?:去|来|往下)?
      (?:写|做|干|改|弄|搞|来|说|讲|看|跑|测|走|查|推进|努力|生成|输出|执行|完成|进行)(?:下去)?
    | 继续下去 | 就?这样 | 就?这么(?:办|做|定|干|来) | 就是(?:这[个样]|它)
    | 就?[按照](?:你|您|这个?)(?:说|讲)?的?(?:做|办|来)
    | (?:回头|改天|明天|下次|晚点|下周|周一)(?:再|接着)?(?:见|聊|说|来|继续) | 帮了?(?:我|我们)?(?:一个|个)?大忙
    | (?:一次|一遍|全|都|终于|总算)?就?(?:解决|修好|成功|通过|跑通|跑起来|好使|好用|管用|能用|过)了
"""


def _either(phrases: str) -> str:
    """A pattern for any of the phrases, the longest first; those of Latin letters only as whole words."""
    listed = sorted({one for one in re.split(r"[|\n]+", phrases) if one}, key=len, reverse=True)
    latin = "|".join(re.escape(one) for one in listed if one.isascii())
    return rf"(?<![a-z0-9])(?:{latin})(?![a-z0-9])|{'|'.join(re.escape(one) for one in listed if not one.isascii())}"


_SMALL_TALK = re.compile(  # what stands for a whole answer, in the form `plain_words` gives
    rf"{_PATTERNS}|{_either(_PHRASES)}", re.VERBOSE
)
_SMALL_WORDS = re.compile(
    r"""
    (?<![a-z0-9])(?: i|im|ive|ill|me|you|youre|u|ur|your|it|its|that|thats|this|we|us|a|an|the|and|so|very|really|much
      |too|just|all|now|then|here|there|for|to|of|with|is|am|are|was|be|been|do|go|will|can|let|lets|today|please|pls|plz
      |well|ok|okay|yes|no|thanks|lot|bit|quite|pretty|totally|truly|everything|everyone
    )(?![a-z0-9])
    | 太(?!太)|帮助|帮忙|大忙|支持|耐心|解答|指点|提醒|一切|顺利|非常|十分|特别|今天|这个|可以|谢谢|感谢|一下|现在
    | 马上|赶紧|已经|大家|各位|直接|真的|果然|居然|竟然|那么|那(?![个次边里些种样])
    | [我你您咱们这就是的了吧啊呀啦哦哈嘛哇喔呗嗯来先都也很真挺好行对帮做办干到在又再请给快咯喽哟呐诶欸哎唉呃额噢]
    """,
    re.VERBOSE,
)
_PRESENCE = re.compile(  # whether anyone is there, which is no question about anything
    r"""
    (?:are\ |r\ )? (?:you|u|anyone|anybody)\ (?:still\ )?(?:there|here|awake|around|up|online|home)
    | (?:whats|what\ is)\ up | (?:请问)?(?:你|您)?(?:还|现在|今天)*在(?:线|忙)?(?:吗|么|不在|不|嘛) [呀啊呢]?
    """,
    re.VERBOSE,
)
_HOW_ARE_YOU = re.compile(
    r"""
    (?:are\ )? (?:you|u|anyone|anybody)\ (?:free|busy|ok|okay|good|ready|alright)
    | how\ (?:(?:are|r|have)\ )?(?:you|u|things|we)(?:\ (?:doing|today|been|going))* | hru
    | (?:hows|how\ is|how\ was)\ (?:it|everything|life|(?:your|the)\ (?:day|week|weekend|morning))(?:\ (?:going|today))*
    | (?:whats|what\ is)\ (?:new|good)
    | (?:你|您)?(?:忙|睡了|吃了|吃饭了|起床了|醒了|下班了)[吗没么]
    | (?:你|您)?(?:最近|今天|近来|周末)?(?:过得|一切|还)?(?:好吗|好不好|怎么样|怎样|如何|还好吧|还好吗|咋样) [呀啊呢]?
    """,
    re.VERBOSE,
)
_AGENTS = (
    "claude|codex|chatgpt|gpt|gemini|copilot|assistant|bot|robot|ai|buddy|mate|man|dude|bro|guys|folks|friend|pal|amigo"
)
_CALLED = re.compile(  # a greeting or thanks and a name: "hey claude", "Thanks Max"
    rf"""
    \W* (?i:hi|hello|hey|hiya|heya|yo|good\ (?:morning|afternoon|evening|night)|morning|bye|thanks|thank\ you|thx|cheers
      |你好|您好|嗨|哈喽|早|早安|早上好|晚上好|晚安|谢谢)
    [\s,，]+ (?: (?i:{_AGENTS}) | [A-Z][a-z]{{1,14}} )
    [^\w?？]*
    """,
    re.VERBOSE,
)
_VOCATIVE = re.compile(
    rf"(?<=\w)(?:\s+(?:my\s+)?(?:{_AGENTS})|\s*(?:大佬|大神|老师|老板|老铁|兄弟|朋友|亲|宝)们?)\W*\Z", re.IGNORECASE
)
_FACE = re.compile(  # one made of letters or digits, and "+1", which would be read as words
    r"(?<![^\s,，.!。！~])(?:[:;=][-'^]?[DPpOo3]|[xX]D|<3|\+1|10/10|100%|T_T|QAQ|orz|Orz|OTZ|[oO0]_[oO0])(?![\w/])"
)
_INVERTED = re.compile(  # a question that lacks its mark: "is this right"
    r"(?:(?:is|are|was|can|will|has|have)\ (?:it|this|that|there|we|you|i)|(?:do|does|did)\ (?:we|you|i|they|it\ \w))\b"
)
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}")
_CLAUSE = re.compile(r"[^\w\s'’]+|\n+")
_OPENING = 6  # words, or characters of an unspaced script


def small_talk(text: str) -> str | None:
    """Which noise a text is whose clauses are greetings, assent and small words alone, or None: it says something.

    Small words alone say nothing of that: some clause must greet, assent or thank.
    """
    if _CALLED.fullmatch(text):
        return "greeting"
    faceless = _FACE.sub("\n", text)
    found = {"acknowledgement"} if faceless != text else set[str]()
    inquires = False
    asks = "?" in text or "？" in text
    for clause in _CLAUSE.split(faceless):
        kind = _kind_of(clause, asks=asks)
        if kind == "something":
            return None
        inquires |= kind == "inquiry"
        found.add(kind)
    if inquires and "greeting" not in found:
        return None
    return "greeting" if "greeting" in found else "acknowledgement" if "acknowledgement" in found else None


def _kind_of(clause: str, *, asks: bool) -> str:
    """Which noise one clause is, `inquiry` (how one is), `nothing` (small words alone) or `something`."""
    noise = noise_of(clause)
    if noise is not None:
        return noise
    if _CALLED.fullmatch(clause):
        return "greeting"
    plain = plain_words(_VOCATIVE.sub("", clause))
    if _PRESENCE.fullmatch(plain):
        return "greeting"
    if _HOW_ARE_YOU.fullmatch(plain):
        return "inquiry"
    asks = asks or _INVERTED.match(plain) is not None
    kinds = [_kind_of_plain(form, asks=asks) for form in dict.fromkeys((plain, *_shortened(plain)))]
    return next((kind for kind in kinds if kind != "something"), "something")


def _kind_of_plain(plain: str, *, asks: bool) -> str:
    if asks:  # a question of small words may be about something: "is it that?"
        return "something" if _SMALL_TALK.sub("", plain).strip() else "acknowledgement"
    opening, rest = _opened(plain)
    if _says(rest):  # it opened too far: "good", then "one"
        opening, rest = None, plain
    if _says(rest):
        return "something"
    return opening or ("acknowledgement" if _SMALL_TALK.search(rest) else "nothing")


def _shortened(plain: str) -> tuple[str, str]:
    """With `goooood` made `good`, and with `sooo` made `so`."""
    return _STRETCHED.sub(r"\1\1", plain), _STRETCHED.sub(r"\1", plain)


def _says(plain: str) -> bool:
    """Whether anything is left without small talk and small words."""
    return bool(_SMALL_WORDS.sub("", _SMALL_TALK.sub("", plain)).strip())


def _opened(plain: str) -> tuple[str | None, str]:
    """The greeting or acknowledgement that a clause begins with, and what follows it."""
    parts = re.findall(r" ?[!-\x7f]+| ?[^\x00-\x7f]", plain)
    for count in range(min(_OPENING, len(parts) - 1), 0, -1):
        noise = noise_of("".join(parts[:count]))
        if noise in ("greeting", "acknowledgement"):
            return noise, "".join(parts[count:]).strip()
    return None, plain
