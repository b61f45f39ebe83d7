"""The lexical floor: textbook BM25 over plain words, to see what a few lines of code do on the same questions.

Nothing of the core is in it: no stemming, no folding, no segmentation (two Han characters are a word), no exact
matches, no surroundings.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from tests.benchmarks.recall.model import Document, Experiment, Question
from tests.benchmarks.recall.score import distinct

_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
_K1, _B = 1.2, 0.75


def plain_words(text: str) -> list[str]:
    """Latin words as they are, Han characters two by two."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] if word[0] > "\u3000" else []
        found.extend(pairs or [word])
    return found


class PlainIndex:
    """An index of some documents.

    Args:
        documents: By id.
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._postings: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._lengths: dict[str, int] = {}
        for identifier, text in documents.items():
            words = plain_words(text)
            self._lengths[identifier] = len(words)
            for word, count in Counter(words).items():
                self._postings[word].append((identifier, count))
        self._mean = sum(self._lengths.values()) / max(1, len(self._lengths)) or 1.0

    def search(self, query: str, limit: int) -> list[str]:
        """Ids of the best documents; those without a word of the query are not among them."""
        scores: dict[str, float] = defaultdict(float)
        for word in set(plain_words(query)):
            found = self._postings.get(word, [])
            weight = math.log(1 + (len(self._lengths) - len(found) + 0.5) / (len(found) + 0.5))
            for identifier, count in found:
                length = _K1 * (1 - _B + _B * self._lengths[identifier] / self._mean)
                scores[identifier] += weight * count * (_K1 + 1) / (count + length)
        return sorted(scores, key=lambda identifier: (-scores[identifier], identifier))[:limit]


class Floor:
    """Answers an experiment's questions, within a question's scope if it has one.

    Args:
        documents: All there are.
    """

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._indexes: dict[str, PlainIndex] = {}

    def ranked(self, experiment: Experiment, question: Question) -> Sequence[str]:
        """The units that come, best first."""
        index = self._indexes.get(question.scope)
        if index is None:
            inside = {
                identifier: document.text
                for identifier, document in self._documents.items()
                if question.scope in ("", document.scope)
            }
            index = self._indexes[question.scope] = PlainIndex(inside)
        return distinct(map(experiment.unit, index.search(question.text, experiment.limit)))
