"""English forms of speech: questions, orders, small talk, narration; how a speaker stresses or hedges."""

from __future__ import annotations

from alaya_core.services.distill.cues import words

# Nouns that look like orders: `commit messages go in ...`.
NOUN_FIRST = words(
    r"^(?:commit|test|order|plan|build|review|format|port|post|read|show|change|release|deploy|search|update|set"
    r"|load|run)\ (?:\w+\ )?\w+(?:s|ing)?\ (?:go(?:es)?|are|is|must|should|needs?|have|has|lives?|runs?|use[sd]?"
    r"|can|happens?|takes?|starts?)\b"
)  # fmt: skip
REMEMBER_THING = words(r"\bremember\ (?:the|my|our|your|about|@)\b")
REMEMBER = words(
    r"(?:(?:^|[,.;:!]\ *|\b(?:please|and|also|must|should|so|but|always|ok)\ )remember(?!\ (?:when|me\b"
    r"|the\ (?:time|day)))|\bdon'?t\ forget|\bdo\ not\ forget|\bkeep\ (?:this\ |that\ )?in\ mind|\bmake\ a\ note"
    r"|\bnote\ (?:that|this|down|to\ self)|\bfor\ (?:future\ )?reference|save\ this)\b"
)  # fmt: skip
# What holds from now on is meant to be remembered, though it does not say so.
LASTING = words(r"\b(?:from\ now\ on|going\ forward|from\ here\ on)\b")
IMPORTANT = words(
    r"\b(?:key\ (?:point|fact|thing|insight|takeaway)"
    r"|important(?:ly)?|crucial(?:ly)?|critical(?:ly)?|essential|vital|nota\ bene|n\.?b\.|urgent"
    r"|must\ (?:always|never))\b"
)  # fmt: skip
ASIDE = words(r"\b(?:by\ the\ way|btw|incidentally|fun\ fact|off[\ -]topic|random(?:ly)?\ thought)\b")
HEDGE = words(
    r"\b(?:maybe|perhaps|probably|possibly|might|not\ sure|i\ (?:think|guess|suspect|feel\ like|assume|bet|reckon)"
    r"|seems?|apparently|likely|can't\ prove|in\ my\ opinion|imh?o|kinda|sort\ of)\b"
)  # fmt: skip
FLEETING = words(
    r"\b(?:right\ now|at\ the\ moment|for\ now|today|currently\ (?:looking|reading|running)|this\ (?:morning"
    r"|afternoon|evening)|just\ now|tired|hungry|sleepy|bored|weather|raining|sunny|feeling)\b"
)  # fmt: skip

QUESTION = words(r"""
    ^(?:(?:so+|and|but|ok|okay|hm+|well|wait|also|alright|hey|sorry|btw|like|then|now|wtf|sooo*\ basically),?\ +)*
    (?:what|why|how|who|whom|whose|when\ (?:is|are|do|does|did|will|was|can)|where|which|is|are|am|was|were|do|does
      |did|can|could|would|will|should|shall|have\ (?:you|we)|has\ (?:it|he|she|the|anyone)|any\ (?:idea|chance
      |news|updates?)|isn't|aren't|don't\ (?:you|we|they|i)|can't|couldn't|wouldn't|shouldn't|what's|how's|who's
      |where's)\b(?!.*:\ )
""")  # fmt: skip
INSTRUCTION = words(r"""
    ^(?:(?:so+|and|but|ok(?:ay)?|then|now|also|alright|hey|sorry|btw|yes|yeah|yep|sure|great|good|cool|perfect|nice
      |thanks?|no|wait|first|next|after\ (?:that|this)),?\ +|please,?\ +|just\ +|kindly\ +|try\ to\ +
      |go\ ahead\ and\ +|let's\ +|you\ can\ +|(?:can|could|would|will)\ you\ +(?:please\ +)?|i\ (?:want|need
      |would\ like)\ you\ to\ +|i'd\ like\ you\ to\ +|help\ me\ +(?:to\ +)?)*
    (?:take\ a\ (?:break|look)|pause
      |add|adjust|analy[sz]e|apply|ask|book|build|call|change|check|clean|close|commit|compare|compute|continue
      |convert|copy|create|debug|delete|deploy|describe|do|draft|draw|drop|edit|execute|explain|explore|export
      |fetch|find|finish|fix|follow|format|generate|get|give|go|help|implement|import|improve|insert|inspect
      |install|investigate|keep\ going|kill|list|load|look|make|merge|modify|move|open|order|plan|port|post|prepare
      |print|provide|publish|pull|push|put|read|rebase|recommend|redo|refactor|remind|remove|rename|reorder|replace
      |reply|rerun|reset|restart|restore|retry|revert|review|rewrite|roll|run|save|schedule|search|send|set|show
      |simplify|sleep|sort|split|start|stop|suggest|summari[sz]e|swap|tell|test|think|translate|try|undo|update
      |upgrade|use|verify|wait|write|tackle)\b
""")  # fmt: skip
REQUEST = words(
    r"^(?:(?:ok|so|and|then|also|please),?\ +)*(?:(?:can|could|would|will)\ (?:you|we)|i\ (?:want|need"
    r"|would\ like)\ you\ to|i'd\ like|i\ (?:want|need)\ (?:to\ )?(?:know|see|understand)|help\ me"
    r"|would\ you\ mind)\b"
)  # fmt: skip
SMALL_TALK = words(r"""
    (?:(?:hi|hey|hello|yo|sup|good\ (?:morning|afternoon|evening|night)|morning|thanks?(?:\ (?:you|a\ lot|so\ much
      |again))?|thx|ty|cheers|ok(?:ay)?|k|yes|yeah|yep|yup|no|nope|nah|sure|right|great|good|nice|cool|perfect
      |awesome|amazing|excellent|fine|wow|lol|lmao|ha(?:ha)+|heh|hmm+|oh|ah|aw+|jesus|damn|wtf|bye|goodbye
      |see\ (?:you|ya)|later|take\ care|no\ worries|no\ problem|you're\ (?:welcome|right)|my\ bad|sorry|done
      |got\ it|makes\ sense|understood|sounds\ (?:good|great)|all\ good|congrats|congratulations|welcome\ back
      |nice\ to\ meet\ you|long\ time\ no\ see|how\ are\ you|what's\ up|please|indeed|exactly|true|absolutely
      |of\ course|very\ much|for\ (?:the|your)\ \w+|there|everyone|all|again|today|tomorrow|then|so|that|it|is|was
      |looks|works|everything|really|very|too|kinda|fun|actually|you|and|to|back|i'm|i|am|glad|happy|hope
      |appreciate|feel|the\ same|same|hear|talk|chat|soon|well|just|man|dude|mate|bro
      |buddy)[\s,.!~?'’…👋🙏😀-😏😂👍❤️]*)+
""")  # fmt: skip
NARRATION = words(r"""
    ^(?:(?:ok(?:ay)?|now|so|first|next|then|alright|good|great|perfect|excellent|got\ it|actually|hmm|wait|right
      |yes|sure|done|finally|also|and|but),?!?\.?\ +)*
    (?:let\ me|let's|let\ us|i'll|i\ will|i'm\ going\ to|i\ am\ going\ to|i'm\ (?:now\ )?\w+ing|i\ (?:need|want
      |have)\ to\ (?:check|look|read|find|add|fix|see|update|create|move|replace)|i\ (?:just\ |also\ |now\ |have\
      |'ve\ |can\ |will\ )*(?:see|read|ran|checked|looked|updated|added|created|removed|made|wrote|opened|tried|did
      |ported|renamed|moved|fixed|implemented|replaced|changed|deleted|committed|started|finished|found\ (?:it
      |\d+))\b|i've\ \w+ed|looking\ (?:at|into)|checking|reading|running|searching|here(?:'s|\ is|\ are)\b
      |this\ will|we\ (?:now\ )?(?:can\ now|have\ now|completed)|we've\ \w+ed|want\ me|would\ you\ like
      |do\ you\ want|should\ i|shall\ i|ready\ to|feel\ free|if\ you(?:'d)?\ (?:want|like|need)|you\ (?:can|could
      |might|may)\ (?:now|also|try)|you're\ (?:right|absolutely)|good\ (?:catch|point|idea|question)
      |great\ (?:question|point|idea)|all\ (?:tests|checks|done)|tests?\ pass|(?:added|updated|removed|created
      |fixed|done|restored|reverted|renamed|moved|ported|implemented|committed|pushed|changed|replaced
      |cleaned)\b(?!.*\bby\ \w+ing\b)|as\ an?\ (?:ai|language\ model)|sorry|i\ apologi[sz]e|i\ (?:don't|do\ not
      |can't|cannot)\ have|glad|happy\ to|thank|sounds\ (?:like|good|great)|it\ (?:sounds|looks)\ like
      |that\ (?:sounds|'s\ (?:great|good|wonderful)))
""")  # fmt: skip
ADDRESSED = words(
    r"^(?:(?:and|but|so|ok|no|dude|man|bro|well),?\ +)*(?:you(?!\ (?:should|must)\ (?:always|never|not))(?:'re|'ve"
    r"|'ll)?|your|are\ you|u)\b|\byou\ (?:idiot|moron|monster|stupid|fucked|broke|forgot|missed|just\ (?:broke"
    r"|deleted))|\b(?:fuck(?:ing|ed)?\ (?:stupid|idiot|you)|are\ you\ (?:fucking\ )?(?:stupid|kidding))"
)  # fmt: skip
REASON = words(r"^(?:(?:yes|yeah|no|well),?\ )?(?:because|since|due\ to|it'?s\ because|that'?s\ because)\b")
REFER = words(
    r"^(?:(?:please|ok|and|yes|so|great|good|exactly),?\ +)*(?:(?:please\ )?(?:remember|note|save|keep"
    r"|don'?t\ forget|write\ down|memori[sz]e)\ (?:that|this|it)(?:\ (?:please|for\ (?:me|later|next\ time"
    r"|the\ future)|in\ mind|down))?|keep\ that\ in\ mind)\s*[.!,~]*(?:\s*(?:please|thanks|thank\ you|ok))?[.!\s]*$"
)  # fmt: skip
