"""English cues."""

from __future__ import annotations

from alaya_core.models.card_types import CardType as T
from alaya_core.services.distill.cues import (
    CHANGE,
    GENERAL,
    HEALTH,
    IDENTITY,
    PREFERENCE,
    RELATION,
    SAFETY,
    cue,
)
from alaya_core.services.distill.vocabulary_en import AM, DAY, HAVE, KIN, LIFE, ROLE, RULEVERB, TIME

CUES = (
    # who somebody is
    cue("name", T.PROFILE, 0.9, IDENTITY,
        rf"\bmy\ (?:full\ |first\ |last\ |real\ )?name(?:\ is|'s)\b|{AM}\ called\b|\b(?:just\ )?call\ me\ \w"
        r"|\bi\ go\ by\ \w|\bmy\ pronouns\b",
        person=True),
    cue("profile", T.PROFILE, 0.85, IDENTITY,
        rf"{AM}\ (?:an?|the)\ (?!bit|little|lot|fan|big|huge|total)(?:[\w-]+\ ){{0,4}}?{ROLE}\b"
        rf"|{AM}\ (?:originally\ )?(?:from|based\ in|living\ in|born\ in)\b|\bi\ (?:live|grew\ up|was\ born"
        r"|was\ raised)\b",
        person=True),
    cue("profile", T.PROFILE, 0.85, IDENTITY,
        r"\bi\ (?:currently\ |mostly\ )?(?:work|teach|study|studied|majored|freelance)\ (?:for|at|as|in|with"
        rf"|from)\b|{AM}\ \d{{1,2}}\b(?!\ *%)|\bi\ (?:run|own|manage|lead|founded)\ an?\ |\bi\ (?:only\ )?(?:speak"
        r"|understand)\ [A-Z]",
        person=True),
    cue("profile", T.PROFILE, 0.8, IDENTITY,
        r"\bmy\ (?:birthday|age|job|address|phone|e-?mail|native\ language|mother\ tongue|blood\ type|time\ ?zone"
        r"|hometown|nationality|passport|role|title|degree|major|username|handle|shoe\ size|height|weight"
        r"|full-time)\b.{0,40}?(?:\ is|'s|:|\ are)\ ",
        person=True),
    cue("profile", T.PROFILE, 0.7, IDENTITY,
        rf"{AM}\ (?:left-handed|right-handed|deaf|blind|colou?r-?blind|dyslexic|autistic|married|divorced|single"
        r"|retired|unemployed|swedish|german|french|chinese|japanese|indian|brazilian|italian|spanish|dutch|polish"
        r"|british|american|canadian|korean|muslim|jewish|christian|buddhist|hindu|self-employed|vegan|vegetarian"
        r"|pescatarian)\b",
        person=True),
    # health and safety
    cue("health", T.PROFILE, 0.9, HEALTH,
        r"\ballerg(?:ic|y|ies)\b|\b(?:lactose|gluten)[\ -](?:intolerant|free)|\bintolerant\ (?:to|of)\b|\bdiabet"
        r"|\basthma|\bpregnan|\bceliac|\bcoeliac|\bepilep|\bmigraine|\bdiagnosed\ with|\binsulin\b|\bepi-?pen"
        r"|\bblood\ pressure|\bpacemaker|\bdisabilit|\bchronic\b|\barthritis"
        r"|\binsomnia|\bstroke\b|dementia|alzheimer|parkinson|heart\ (?:attack|condition|disease)"
        r"|\bcancer\b|hearing\ aids?|wheelchair|blood\ thinner|\binhaler|vaccin|prescriptions?\b"
        r"|\bi\ (?:am\ on|take"
        r"|took)\ .{0,30}?(?:\bmg\b|medication|pills?|antidepress)|\bi\ (?:take|took|inject)\ .{2,40}?\b(?:once"
        r"|twice|times)\b|\bmedications?\b",
        person=True),
    cue("health", T.EVENT, 0.8, HEALTH,
        r"\b(?:surgery|operation\ on|hospitali[sz]ed|broke\ (?:my|his|her)\ (?:arm|leg|ankle|wrist|foot|hip)|chemo"
        r"|physio(?:therapy)?|biopsy)\b",
        person=True),
    cue("safety", T.FACT, 0.9, SAFETY,
        r"\bemergency\ contact|\bin\ an\ emergency\b|\bsafe\ word\b|\bevacuat|\bdon'?t\ (?:tell"
        r"|share\ with)\ (?:anyone|anybody)\b",
        person=True),
    # people around them
    cue("people", T.PROFILE, 0.6, RELATION,
        r"(?:^|[,;]\ )(?:mum|mom|dad|grand(?:pa|ma|dad|mum)|granny|nan|auntie)(?:'s)?\ [a-z]"
        rf"|\b(?:my|our)\ (?:\w+\ )?{KIN}(?:'s\ name)?(?:,?\ [A-Z]\w+,?)?\ (?:is|are|was|has|have|works?|lives?"
        r"|loves?|likes?|hates?|prefers?|teaches|studies|plays|starts?|turns|speaks|owns|can't|cannot|does|needs"
        rf"|moved|named|called)\b|\b(?:my|our)\ (?:\w+\ )?{KIN}\ [A-Z]\w+|\bi\ have\ (?:an?|one|two|three|four"
        rf"|five|\d)\ (?:\w+\ ){{0,2}}{KIN}s?\b",
        person=True),
    # what they like, and how they want things
    cue("preference", T.PREFERENCE, 0.85, PREFERENCE,
        r"\bi(?:\ really|\ much|\ strongly|\ generally|\ usually|\ always|\ personally|\ absolutely|\ also"
        r"|\ actually|\ still|\ now|'d|\ would|\ do)*\ (?:prefer|favou?r|love|hate|loathe|detest|dislike|enjoy|adore"
        r"|can't\ stand|cannot\ stand|avoid|rather\ (?:not\ )?(?:have|use|you|work|see|get))\b(?!\ (?:it|that|this"
        r"|your?|how|them|to\ (?:hear|see|know))\b)",
        person=True),
    cue("preference", T.PREFERENCE, 0.8, PREFERENCE,
        r"\bi\ (?:really\ |also\ )?(?:don'?t|do\ not|never|no\ longer)\ (?:really\ )?(?:like|want|eat|drink|use"
        r"|enjoy|need|trust|care\ for)\b(?!\ (?:it|that|this)\b)|(?<!would\ )(?<!'d\ )(?<!do\ )\bi\ (?:really\ "
        r"|also\ )?like\ (?!it\b|that\b|this\b|your?\b|how\b|them\b|the\ (?:idea|look|way|sound))"
        r"|\bmy\ (?:\w+\ ){0,2}favou?rite|\bi\ would\ only\ want|\bi\ only\ (?:want|use|eat|drink|need|read"
        r"|accept)\b|\bi\ always\ (?:use|take|drink|eat|write|want|start|go|read|order)\b",
        person=True),
    cue("preference", T.PREFERENCE, 0.75, PREFERENCE,
        rf"{AM}\ (?:not\ )?(?:really\ |a\ (?:big\ |huge\ )?)?(?:fan\ of|into\ \w|obsessed\ with|fond\ of"
        r"|a\ morning\ person|a\ night\ owl|keen\ on)|\bmy\ hobb(?:y|ies)\ (?:is|are|include)\b",
        person=True),
    cue("preference", T.PREFERENCE, 0.7, PREFERENCE,
        r"\b(?!Everybody|Everyone|Nobody|It|This|That|He|She|They|We|You)"
        r"[A-Z]\w+\ (?:really\ |also\ |always\ |absolutely\ )?(?:loves|hates|prefers"
        r"|dislikes|adores|(?:doesn't|does\ not|never|can't|cannot|won't)"
        r"\ (?:eat|eats|drink|drinks|like|likes))\ (?!it\b|this\b|that\b|you)\w",
        person=True),
    cue("standing", T.PREFERENCE, 0.9, PREFERENCE,
        r"\b(?:from\ now\ on|going\ forward|in\ (?:the\ )?future|from\ here\ on|as\ a\ rule|by\ default"
        r"|every\ time\ (?:you|i|we)|whenever\ (?:you|i|we|somebody|someone))\b,?.{8,}",
        person=True),
    cue("standing", T.PREFERENCE, 0.85, PREFERENCE,
        r"(?:^|[,;:.—–]\ *|\b(?:and|but|so|also|please|ok|you\ (?:should|must|can)|to)\ )(?:always|never"
        r"|don'?t\ ever|do\ not\ ever|make\ sure\ (?:to|you|we)\ always)\ (?:just\ )?(?!mind\b|forget\ me|seen"
        rf"|heard|thought|say\ never|happen){RULEVERB}\b",
        person=True),
    cue("standing", T.PREFERENCE, 0.7, PREFERENCE,
        r"(?:^|[,;:.]\ *|\b(?:and|but|please|so)\ )(?:please\ )?(?:don'?t|do\ not|avoid|stop"
        rf"|no\ more)\ {RULEVERB}(?:ing)?\b.*\b(?:any|anymore|ever|every|all|each|in\ (?:commit|code|comments?"
        r"|tests?|replies|answers|messages|production|prod|the\ (?:docs|readme|code))|before\ every|after\ \d"
        rf"|before\ \d|on\ (?:weekends|{DAY}s)|without\ (?:asking|tests|my))\b"
        r"|^(?:please,?\ )?no\ [\w-]+(?:\ [\w-]+)?\ (?:in|on|before|after|without|during)\ \w+|\bno\ (?:emojis?"
        r"|comments|semicolons|abbreviations)\b",
        person=True),
    cue("standing", T.PREFERENCE, 0.7, PREFERENCE,
        r"^(?:please\ |just\ |we\ |i\ )?use\ .{2,60}?(?:,?\ not\b|\binstead\ of\b|\brather\ than\b)|^(?:reply"
        r"|answer|respond|write\ to\ me|talk\ to\ me|keep\ (?:your\ )?(?:answers|replies|responses|commits|messages"
        r"|functions))\ .{0,20}?(?:in\ [A-Z]|short|brief|concise|under|below|small)|\bonly\ ever\ ",
        person=True),
    # what was decided
    cue("commitment", T.EVENT, 0.92, CHANGE,
        r"\bi(?:'ve|\ have)?\ (?:just\ |finally\ )?(?:agreed|promised|committed|volunteered|signed\ up|been\ asked"
        r"|been\ invited)\ to\ (?!myself|you)",
        person=True),
    cue("decision", T.DECISION, 0.9, GENERAL,
        rf"\b(?:i|we|they|the\ team|(?:my|our)\ \w+)(?:{HAVE}|\ just|\ finally|\ also|\ both|\ all)*\ (?:decided"
        r"|agreed|chosen|chose|settled\ on|opted|picked|concluded|committed\ to|ruled\ out|rejected|dropped"
        r"|ditched|standardi[sz]ed\ on)\b(?!\ to\ wait\b)|\bdropped\ it\b|\w\ it\ is[.!]?$|\b(?:we|i)\ (?:are"
        r"|'re)\ (?:keeping|staying|leaving)\b|\b(?:final\ )?decision\b\ *(?::|is|was|—|-)|^(?:the\ |my\ "
        r"|in\ )?(?:conclusion|bottom\ line|takeaway|upshot|verdict|recommendation|short"
        r"|tl;?dr)\b[^,:.]{0,40}?\ ?[,:—-]"
        r"|^agreed:|\bit\ was\ (?:decided|agreed)",
        person=False),
    cue("decision", T.DECISION, 0.8, GENERAL,
        r"\b(?:we|i)(?:'re|\ are|\ am|'m|'ll|\ will)\ (?:going\ with|sticking\ with|moving\ (?:to|off|away)"
        r"|migrating|switching\ (?:to|from)|dropping|adopting|standardi[sz]ing|using\ .{2,40}?\ (?:instead|for|over"
        r"|rather)|go\ with|stick\ (?:with|to)|use\ .{2,60}\ (?:instead|for|over|rather)|keep\ .{2,40}?\ (?:as"
        r"|until|for))\b|\bwe\ went\ with\b|^we\ (?:want|need)\ to\ (?!check|see|look|know|fix|talk|find|tackle"
        r"|read|do\ it|go|get|make\ sure)\w+\ .{12,}|\b(?:the|our)\ plan\ is\b",
        person=True),
    cue("decision", T.DECISION, 0.7, GENERAL,
        r"\blet'?s\ (?:go\ with|stick\ (?:with|to)|use\ .{2,60}?\ (?:instead|for|over|rather|not)|standardi[sz]e"
        r"|settle\ on|not\ (?:use|support))\b|\b(?:chose|choose|picked|went\ with)\ .{2,60}?\ (?:over|instead\ of"
        r"|because|since|rather\ than)\b",
        person=True),
    # what bites
    cue("found", T.GOTCHA, 0.85, GENERAL,
        r"^(?:i\ |we\ )?(?:finally\ )?(?:found|tracked|nailed|figured|pinned)\ (?:it|this|the\ (?:bug|cause|issue"
        r"|problem|leak|culprit))(?:\ (?:down|out))?\ *[:,—-]\ *.{20,}|\bthe\ (?:bug|crash|failure|error|leak"
        r"|slowdown|hang|flakiness|regression|(?:\w+\ )?test)\ (?:was|is|came|comes"
        r"|happens)\ (?:an?\ (?:\w+\ ){0,3}(?:problem|issue|bug|race|mismatch|leak|regression|typo|conflict"
        r"|deadlock)\b|in\b|that\b|because|from|when|due)",
        person=False),
    cue("why", T.GOTCHA, 0.7, GENERAL,
        r"^(?!(?:i|you|let|if)\b|i').{3,80}?\b(?:was|were|did|didn't|wasn't|weren't|failed|hung|crashed|broke|got"
        r"|never|kept|stopped|came)"
        r"\b.{0,60}?\b(?:because|as\ the|due\ to"
        r"|since(?!\ (?:we|i|you|last|then|yesterday|\d|[A-Z]\w+day))\b).{10,}|\bthat(?:'s|\ is|\ was)\ why\b"
        r"|\b(?:traced\ (?:it\ |this\ )?(?:back\ )?|(?:comes?|came|boils?)\ down\ )to\ "
        r"|\b(?:explains|explained)\ (?:why|the)\b",
        person=False),
    cue("reason", T.FACT, 0.6, GENERAL,
        r"^(?!.*\b(?:let\ me|i'll|i\ will)\b).*(?:`[^`]+`|\b\w+\.\w+\(?|--\w).*\b(?:because|due\ to|as\ a\ result"
        r"|which\ means|so\ that|that's\ why|must|only\ (?:if|when))\b|\b(?:because|due\ to|which\ means|must"
        r"|only\ (?:if|when))\b.*`[^`]+`",
        person=False),
    cue("root-cause", T.GOTCHA, 0.9, GENERAL,
        r"\broot\ cause\b(?!\ analysis)|\b(?:the\ )?(?:real|actual|underlying|true)\ (?:cause|culprit|problem|issue"
        r"|reason|bug)\ (?:is|was|turned|:)|\bculprit\b.{0,20}?(?:is|was|:)|\b(?:was|is|are|were"
        r"|being)\ caused\ by\b|\bturn(?:s|ed)\ out\b(?!\ (?:really|very|so|pretty|quite|super|just|delicious"
        r"|amazing|beautiful\w*|perfect\w*|good|better|bad|well|great|fine|good|nice|ok|amazing))"
        r"|^(?:the\ )?(?:cause|reason|problem|bug|issue|source)(?:\ (?:of|for|behind"
        r"|with)\ [^:,.]{2,60}?)?(?:\ is|\ was|:)\ (?!solved|fixed|gone|clear|here"
        r"|that\ (?:i|you)|with\ you)|\b(?:happens|happened|fails|failed|failing|broke|breaks|crashes"
        r"|crashed)\ because\b",
        person=False),
    cue("gotcha", T.GOTCHA, 0.85, GENERAL,
        r"\bgotcha\b|\bcaveat\b|\b(?:watch\ out|beware)\b|\bpitfalls?\b|\b(?:be\ )?careful(?:,|:|\ with|\ when"
        r"|\ that)|\bcommon\ mistake|\bthe\ (?:trick|catch)\ is\b|^(?:warning|trap|lesson(?:\ learned)?):",
        person=False),
    cue("gotcha", T.GOTCHA, 0.7, GENERAL,
        r"\b(?:fails?|breaks?|crash(?:es)?|hangs?|leaks?|deadlocks?|throws?|times?\ out|does(?:n'?t|\ not)\ (?:work"
        r"|load|run|start|fire|apply|support)|won't\ (?:work|load|start))\ .{0,40}?\b(?:when|if|unless|because"
        r"|on\ (?:windows|macos|linux)|until|after|silently)\b|\bonly\ (?:works?|loads?|runs?|applies)\ (?:if|when"
        r"|on|with|after)\b|\bsilently\ \w+|\bis\ (?:empty|missing|null|unset|wrong)\b.{0,8},?\ so\ (?:the|that)?"
        r"|\b(?:or|otherwise),?\ (?:the|it|you|we)\ .{0,30}?(?:fails?|breaks?|crash|hang|loops?|gets?|times?\ out"
        r"|dies)",
        person=False),
    cue("fix", T.CASE, 0.75, GENERAL,
        r"\bthe\ (?:fix|solution|workaround|remedy|answer)\ (?:is|was|:)\ (?!in|ready|done|simple\b)|^(?:fix"
        r"|solution|workaround|resolution):|\b(?:fixed|solved|resolved|worked\ around)\ (?:it\ |this\ |that\ "
        r"|the\ [\w\ `.-]{3,50}?)?\ ?by\ \w+ing\b|\b(?:cures|solves|prevents|avoids|resolves|eliminates"
        r"|gets\ rid\ of|makes\ (?:it|them|the\ \w+)\ (?:stable|work|pass|faster|deterministic))\b"
        r"|\bwork-?around\b.{0,30}?(?:is|:|to)",
        person=False),
    # how things are done
    cue("pattern", T.PATTERN, 0.8, GENERAL,
        r"\b(?:best\ practice|rule\ of\ thumb|invariant|(?:our|the|team)\ convention|house\ rule"
        r"|the\ (?:usual\ )?pattern\ (?:is|:)|the\ way\ (?:we|to)\ .{3,60}?\ is|the\ workflow\ (?:is|would\ be"
        r"|:))\b|\bwe\ (?:always|never|only\ ever|usually)\ \w+",
        person=False),
    cue("rule", T.PATTERN, 0.65, GENERAL,
        r"^(?!.*\b(?:i|you|we)(?:'ll|\ will|'d|\ would|\ might)?\ (?:must|have|should|may|need)).*?\b(?:must(?:\ not"
        r"|n't)?(?!\ have\b)|may\ (?:not|never)|has\ to|have\ to|needs?\ to\ be|should\ (?:never|always|be|stop"
        r"|only|not)|shouldn't|is\ not\ allowed)\b.{8,}",
        person=True),
    cue("ops", T.FACT, 0.65, GENERAL,
        r"\b(?:is|are|was|lives?|runs?|listens?|sits|resides|stays?|hosted|deployed|located|stored|mounted|kept)"
        r"\ (?:on|at|in|under|behind)\ .{0,30}?(?:port\ \d|\d+\.\d+|`|/\w|\w\.\w{2,}|\w/|[A-Z]\w+)"
        r"|\b(?:port|version|deadline|due\ date|budget|limit|quota|ttl|timeout|sla)\b.{0,30}?"
        r"\b(?:is|are|was|of|:)\ .{0,30}?\d"
        r"|\b(?:expires?|rotates?|renews?|is\ due|are\ due|closes|opens)\ (?:on|in|every|by|at|each)\b"
        rf"|\b(?:every|each)\ (?:\d+\ \w+|morning|night|quarter|month|sprint|release|{DAY})\b",
        person=True),
    cue("availability", T.PROFILE, 0.65, GENERAL,
        r"\bi\ (?:can't|cannot|can\ not|won't|don't|can\ only)\ (?:do|make|work|take|come|eat|drink|drive|attend"
        rf"|join|call)\ .{{0,20}}?(?:{DAY}|mornings?|evenings?|nights?|weekends?|before|after|any\ ?more)|\bi(?:'m"
        rf"|\ am)\ (?:free|available|away|off|out\ of\ office|on\ (?:leave|vacation|call))\b.{{0,40}}?(?:{DAY}"
        rf"|{TIME}|until|from|every)",
        person=True),
    cue("standing", T.PREFERENCE, 0.65, PREFERENCE,
        r"^(?!.*\bi\b)(?:please\ )?(?:keep|write|use|add|put|make|send|ask|call|give|mention|include|leave"
        r"|speak|answer|reply)"
        r"\ .{5,80}?\bwhen(?:ever)?\ (?:you|we)\b|^when(?:ever)?\ (?:you|we)\ \w+.{3,80}?,\ *(?:please\ )?\w+",
        person=True),
    cue("standing", T.PREFERENCE, 0.65, PREFERENCE,
        r"^(?:please\ )?(?:skip|drop|leave\ out|omit|cut|no\ need\ for)\ (?:the\ |all\ )?.{3,40}?"
        r"\ (?:in|from|for)\ (?!it\b|this\b|that\b|now\b)"
        r"(?:\w+\ )?\w+s\b",
        person=True),
    cue("avoid", T.PREFERENCE, 0.6, PREFERENCE,
        r"(?:^|[,;:.]\ *|\b(?:and|but|so)\ )(?:please\ )?(?:don'?t|do\ not)\ (?:use|touch|rely\ on|trust|call"
        r"|import|edit|deploy|merge)\ (?!it\b|that\b|this\b|them\b).{3,60}?(?:\bbecause\b|,\ (?:it|they|that)\b"
        r"|\bsince\b|\bas\b|\botherwise\b|:)",
        person=True),
    cue("context", T.FACT, 0.6, GENERAL,
        r"\b(?:for\ (?:context|the\ record|your\ information)|fyi|background:|context:|heads[\ -]up"
        r"|just\ so\ you\ know|note\ to\ self|for\ (?:future\ )?reference)\b",
        person=True),
    cue("expiry", T.FACT, 0.7, CHANGE,
        r"\b(?:passports?|visas?|certificates?|contracts?|insurance|licen[cs]es?|domains?|tokens?|leases?"
        r"|warrant(?:y|ies)"
        r"|subscriptions?|memberships?|permits?)\b.{0,30}?\b(?:expires?|expired|runs?\ out|lapses?|ends?)\b",
        person=False),
    cue("change", T.FACT, 0.6, GENERAL,
        r"\b(?:took\ over|takes\ over|(?:is|are)\ now\ (?:in|at|on|with|run|owned|called|responsible|part|the)"
        r"|replaces"
        r"|has\ been\ (?:moved|replaced|renamed|cancelled|postponed)|(?:was|were)\ (?:replaced|renamed|postponed"
        r"|moved)"
        r"|goes?\ up|went\ (?:up|down)\ (?:to|by|from)|raises?\ (?:the|our|my))\b",
        person=True),
    cue("concept", T.CONCEPT, 0.6, GENERAL,
        r"\b(?:stands\ for|is\ short\ for|is\ what\ we\ call|we\ call\ (?:it|that|this|the)|refers\ to"
        r"|is\ defined\ as|in\ our\ (?:team|company|codebase|jargon|domain)|by\ \"?\w+\"?\ (?:i|we)\ mean)\b"
        r"|[\"“`]\w[\w\ -]*[\"”`]\ (?:means|is\ (?:an?|our|the))\b",
        person=True),
    # what happened, what will
    cue("life-event", T.EVENT, 0.8, CHANGE,
        rf"\b(?:i|we|my\ \w+(?:\ [A-Z]\w+)?|our\ \w+){HAVE}(?:\ just|\ finally|\ recently)?\ (?:moved|relocated"
        r"|got\ (?:married|engaged|divorced|promoted|laid\ off|fired|hired|a\ (?:new\ )?(?:job|offer|dog|cat))"
        r"|graduated|retired|quit|resigned|adopted|gave\ birth|passed\ away|died|(?:changed|switched)\ jobs?"
        r"|switched\ to|joined"
        r"|bought\ an?\ (?:new\ )?(?:house|flat|car|apartment)|enrolled|signed\ (?:up|the)|started\ (?:a\ new"
        r"|working|learning|my|at|as)|broke\ up|stopped\ (?:smoking|drinking|eating|using))\b|\bi(?:'m"
        r"|\ am)\ (?:getting\ married|moving\ to|changing\ jobs|leaving\ \w+|starting\ (?:a\ new|at|as))"
        r"|\bi\ (?:used\ to|no\ longer)\ \w+",
        person=True),
    cue("event", T.EVENT, 0.7, GENERAL,
        rf"\b(?:i|we|my\ \w+(?:\ [A-Z]\w+)?|our\ \w+){HAVE}(?:\ just|\ finally|\ recently"
        rf"|\ also)?\ {LIFE}\b.*?{TIME}|{TIME},?\ .{{0,20}}?\b(?:i|we|my\ \w+|our\ \w+)(?:\ just"
        rf"|\ finally)?\ {LIFE}\b|\b(?:recently|lately),?\ i(?:'ve|\ have)?\ |\bi(?:'ve|\ have)\ (?:just\ "
        r"|finally\ |recently\ )?been\ (?:learning|working|studying|practi[sc]ing|training|volunteering)\b",
        person=True),
    cue("date", T.EVENT, 0.7, GENERAL,
        r"\b(?:appointment|meeting|interview|exam|flight|wedding|birthday|anniversary|conference|release|launch"
        r"|deadline|demo|trip|vacation|holiday|concert|party|move|surgery|visit|audit|review|race|marathon|starts?"
        rf"|begins?|ends?|lands?|arrives?|ships?|moves?)\b.{{0,60}}?{TIME}|{TIME}.{{0,50}}?\b(?:appointment"
        r"|interview|exam|flight|wedding|conference|release|launch|trip|surgery|audit|freeze|outage|marathon)\b",
        person=True),
    cue("date", T.EVENT, 0.7, GENERAL,
        r"^(?:the|our|my|we\ have|i\ have|there\ is|there's)\ (?:an?\ )?(?:[\w-]+\ ){0,3}?(?:appointment|meeting"
        r"|interview|exam|flight|demo|call|review)\b.{0,40}?\b(?:today|tonight|at\ \d)",
        person=True),
    cue("pursuit", T.EVENT, 0.65, GENERAL,
        rf"{AM}\ (?:currently\ |also\ |still\ )?(?:training|studying|preparing|practi[sc]ing|learning|planning"
        r"|saving|applying|writing\ (?:a|my)|building\ (?:a|my)|expecting|raising|working\ on\ (?:a|my|our)"
        r"|volunteering|recovering)\b",
        person=True),
    cue("achievement", T.EVENT, 0.6, GENERAL,
        r"\b(?:i|we)(?:'ve|\ have)?\ (?:just\ |finally\ )?(?:finished|completed|launched|published|won|passed"
        r"|submitted|released|founded|landed)\ (?:my|our|the|a|an)\ (?!(?:test|file|change|fix|commit)s?\b)",
        person=True),
    # what they believe
    cue("belief", T.BELIEF, 0.6, GENERAL,
        r"(?:^|[,;]\ |\b(?:but|and|so|ok|well|honestly|personally)\ ,?\ ?)(?:i\ (?:still\ |really\ |honestly\ "
        r"|personally\ )?(?:think|believe|feel\ like|suspect|guess|bet|reckon|assume|doubt|have\ a\ feeling)"
        r"|in\ my\ (?:opinion|view|experience)|imh?o|i(?:'d|\ would)\ (?:say|argue|bet)\b|my\ (?:guess|hunch"
        r"|theory|gut\ feeling)\ is)\b(?!\ (?:so\b"
        r"|not\b|your\b|we\ (?:should|can|could|need)|you\b|i\b|it'?s\ (?:fine|ok|good|time)|that'?s\ (?:it|all"
        r"|fine)))",
        person=True),
)  # fmt: skip
