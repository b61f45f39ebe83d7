"""English words that cues share: people, times, deeds, roles; each a piece of a verbose pattern."""

from __future__ import annotations

AM = r"\bi(?:\ am|'m|’m)"
HAVE = r"(?:\ have|'ve|’ve|\ has)?"
KIN = (
    r"(?:wife|husband|partner|fianc[ée]e?|girlfriend|boyfriend|spouse|son|daughter|kids?|child|children|baby|twins?"
    r"|m(?:o|u)ther|m[ou]m|father|dad|parents|brother|sister|sibling|cousin|aunt|uncle|nephew|niece|grand(?:ma"
    r"|pa|mother|father|parents|son|daughter)"
    r"|boss|manager|colleague|coworker|co-worker|roommate|flatmate|neighbou?r|best\ friend|friend|mentor"
    r"|cofounder|co-founder|landlord|doctor|therapist"
    r"|dog|cat|puppy|kitten|rabbit|parrot|turtles?|horse)"
)  # fmt: skip
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
TIME = (
    r"(?:\byesterday|\btomorrow|\btonight|\b(?:last|next|this)\ (?:night|week(?:end)?|month|year|spring|summer"
    rf"|autumn|fall|winter|morning|afternoon|evening|{DAY}|{MONTH})"
    rf"|\bon\ {DAY}|\d{{4}}-\d\d-\d\d|\b{MONTH}\.?\ \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd"
    rf"|th)?\ (?:of\ )?{MONTH}\b|\b(?:since|in|by|until)\ (?:{MONTH}|(?:19|20)\d\d)\b"
    r"|\b(?:a|an|one|two|three|four|five|six|\d+|a\ few|couple\ of)\ (?:days?|weeks?|months?|years?)\ (?:ago"
    r"|from\ now)|\bin\ (?:a|two|three|\d+)\ (?:days?|weeks?|months?)\b)"
)  # fmt: skip
LIFE = (
    r"(?:moved|relocated|got\ (?:married|engaged|divorced|promoted|laid\ off|fired|hired|accepted"
    r"|a\ (?:new\ )?(?:job|offer|dog|cat))|graduated|retired|quit|resigned|joined"
    r"|adopted|bought|sold|signed\ up|enrolled|gave\ birth|broke|lost|won|passed|failed|finished|launched"
    r"|published|released|started|founded|opened|booked|visited|met"
    r"|flew|travel+ed|attended|hosted|ran|climbed|completed|had|went|began|learned|learnt|received|submitted"
    r"|celebrated|turned|switched|changed|injured|recovered|made|took|saw|got)"
)  # fmt: skip
RULEVERB = (
    r"(?:use|add|write|put|ask|touch|push|commit|delete|remove|mention|send|call|run|reply|answer|respond|speak"
    r"|edit|change|include|create|install|deploy|merge|rebase|suggest"
    r"|recommend|assume|skip|format|name|keep|show|start|end|log|store|share|post|print|read|check|test|order"
    r"|book|schedule|contact|wake|disturb|explain|translate|address|sign|quote|round|mock|leave)"
)  # fmt: skip
ROLE = (
    r"(?:\w+(?:er|or|ist|ian|man|woman|ant|ent)|nurse|chef|cook|judge|coach|pilot|architect|intern|sre|cto|ceo|cfo"
    r"|pm|dba|phd|postdoc|vegetarian|vegan|native\ speaker|freelance|widow|dad|mom|mum|mother|father|parent)"
)
