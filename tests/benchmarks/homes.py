"""Homes full of invented cards and passages, made quickly: no model is asked, the vectors are drawn by topic."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alaya_core.clock import DAY_MS
from alaya_core.memory import Memory
from alaya_core.models.card import Card, Link, Relation, SourceRef, ordered_ends
from alaya_core.models.card_types import CardType
from alaya_core.models.commit import Event, card_created, link_created
from alaya_core.models.session import Turn, TurnKind
from alaya_core.services.embedding import Embedder
from alaya_core.services.index import sync
from alaya_core.services.passages import passage_rows
from alaya_core.services.workspace import Workspace
from alaya_core.stores.embedding_cache import content_hash

Vector = NDArray[np.float32]

TOPICS = 200
_VOCABULARY = 20_000
_EVENTS_A_COMMIT = 500
_SYLLABLES = "ba co di fu ga ko le mi no pa qu ra se ti vo wa xe yu za ster tion ment plug conf serv data"
_HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于"
    "出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
)


class Writer:
    """Invents text whose words are spread as in real text: few are common, most are rare."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        syllables = _SYLLABLES.split()
        draw = random.Random(1)
        self.words = ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(_VOCABULARY)]
        self._weights = list(np.cumsum(1.0 / np.arange(3, _VOCABULARY + 3)))

    def sentence(self, topic: int, words: int = 12) -> str:
        """A sentence; a quarter of the topics are Chinese."""
        if topic % 4 == 3:
            return "".join(self._random.choices(_HAN, k=words * 2)) + self.mark(topic) + "。"
        said = self._random.choices(self.words, cum_weights=self._weights, k=words)
        said[self._random.randrange(words)] = self.mark(topic)
        return " ".join(said).capitalize() + "."

    def text(self, topic: int, sentences: int) -> str:
        """Some sentences."""
        return " ".join(self.sentence(topic) for _ in range(sentences))

    def query(self, topic: int) -> str:
        """What somebody asks about a topic: its word, and a few of middling rarity."""
        if topic % 4 == 3:
            return self.mark(topic) + "".join(self._random.choices(_HAN, k=6))
        return " ".join([self.mark(topic), *self._random.choices(self.words[50:2_000], k=4)])

    def mark(self, topic: int) -> str:
        """The word that belongs to a topic."""
        return f"项目{_HAN[topic % 50]}{_HAN[topic // 4]}" if topic % 4 == 3 else self.words[3_000 + topic]


class TopicEmbedding:
    """Stands in for the bundled model: the same name and length, vectors that lie around their topic's centre.

    It answers for queries only; the vectors of cards are put into the cache, under the bundled model's key.
    """

    def __init__(self, real: Embedder, dimensions: int = 512) -> None:
        self._embedder = real
        rng = np.random.default_rng(3)
        self._centres = unit(rng.standard_normal((TOPICS, dimensions)).astype(np.float32))
        self._rng = np.random.default_rng(5)

    def around(self, topics: Sequence[int], spread: float = 0.04) -> Vector:
        """One vector a topic, near its centre (cosine about .74 at the usual spread)."""
        centres = self._centres[list(topics)]
        return unit(centres + spread * self._rng.standard_normal(centres.shape).astype(np.float32))

    def know(self, texts: Sequence[str], topics: Sequence[int]) -> None:
        """Puts vectors of texts into the cache."""
        cache, key = self._embedder._cache, self._embedder.provider.cache_key
        assert cache is not None
        cache.put_many(key, {content_hash(t): v for t, v in zip(texts, self.around(topics), strict=True)})

    def know_query(self, text: str, topic: int) -> None:
        """Makes a query's vector a remembered one, so that asking costs no model."""
        self._embedder._queries[text] = (self._embedder._clock(), self.around([topic], 0.02)[0])


def unit(vectors: Vector) -> Vector:
    """Rows of length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def new_home(path: Path) -> Memory:
    """A home whose environment is empty, so that nothing of the person's settings counts; no answer is kept."""
    path.mkdir(parents=True, exist_ok=True)
    Memory.open(path, environ={}, create=True).close()
    (path / "config.json").write_text('{"recall": {"cache_ttl_s": 0}}', encoding="utf-8")
    return Memory.open(path, environ={}, create=True)


def workspace_of(memory: Memory) -> Workspace:
    """The stores of a memory."""
    return memory._work


def cards(count: int, writer: Writer, now: int, seed: int = 11) -> Iterator[tuple[Card, int]]:
    """Invented cards, each with its topic."""
    draw = random.Random(seed)
    kinds = list(CardType)
    for _ in range(count):
        topic = draw.randrange(TOPICS)
        when = now - draw.randrange(1, 400) * DAY_MS
        card = Card(
            id=f"card-{draw.getrandbits(128):032x}",
            title=writer.sentence(topic, 6)[:70],
            content=writer.text(topic, draw.randint(2, 5)),
            type=draw.choice(kinds),
            created_at=when,
            added_at=when,
            updated_at=when,
            tags=(f"tag{topic % 40}",),
            entities=(writer.mark(topic),),
            importance=draw.random(),
            scope="global" if draw.random() < 0.8 else "agent:main",
            origin="rules",
            sources=(SourceRef(f"session-{topic}", (draw.randrange(50),)),),
        )
        yield card, topic


def links(ids: Sequence[str], count: int, now: int, seed: int = 13) -> Iterator[Link]:
    """Invented links; one in twenty has one of a hundred hubs at an end."""
    draw = random.Random(seed)
    relations = list(Relation)
    for _ in range(count):
        a = ids[draw.randrange(min(100, len(ids)))] if draw.random() < 0.05 else draw.choice(ids)
        b = draw.choice(ids)
        if a != b:
            kind = draw.choice(relations)
            yield Link(*ordered_ends(a, b, kind), kind, draw.random(), "they belong together", "rules", now)


def append_all(work: Workspace, events: Iterator[Event], each: int = _EVENTS_A_COMMIT) -> int:
    """Writes events into the ledger, some hundreds a commit, and says how many."""
    done = 0
    with work.locks.writing("benchmark"):
        while some := list(islice(events, each)):
            now = work.clock()
            work.ledger.append(some, commit_id=work.ids.new_commit(now), at=now, actor="rules")
            done += len(some)
    return done


def fill(memory: Memory, count: int, link_count: int, writer: Writer | None = None) -> tuple[list[str], TopicEmbedding]:
    """Puts cards and links into a home and brings all views up.

    Returns:
        The cards' ids, and what knows their vectors.
    """
    work = workspace_of(memory)
    now = work.clock()
    embedding = TopicEmbedding(work.embedder)
    made = list(cards(count, writer or Writer(), now))
    for start in range(0, len(made), 5_000):
        part = made[start : start + 5_000]
        embedding.know([card.text_to_embed() for card, _ in part], [topic for _, topic in part])
    ids = [card.id for card, _ in made]
    append_all(work, (card_created(card) for card, _ in made))
    append_all(work, (link_created(link) for link in links(ids, link_count, now)))
    with work.locks.writing("benchmark"):
        work.graph.catch_up()
    sync(work, patient=True)
    return ids, embedding


def add_passages(memory: Memory, count: int, writer: Writer, embedding: TopicEmbedding | None = None) -> None:
    """Puts passages into the tables, as if sessions had come in; they have no session behind them.

    Args:
        embedding: What knows their vectors; None = they have none.
    """
    work = workspace_of(memory)
    living = work.vectors.generation
    draw = random.Random(17)
    rows: list[dict[str, Any]] = []
    topics: list[int] = []
    for number in range(count):
        topic = draw.randrange(TOPICS)
        tool = draw.random() < 0.4
        text = writer.text(topic, draw.randint(1, 4))
        kind, role = (TurnKind.TOOL, "tool") if tool else (TurnKind.MESSAGE, "user")
        turn = Turn(role, text, work.clock() - number, kind, text)
        of_turn = list(passage_rows(f"session-{number // 200}", number % 200, turn, "agent:main", 2_000, number % 200))
        rows.extend(of_turn)
        topics.extend([topic] * len(of_turn))
        if len(rows) >= 5_000 or number == count - 1:
            with work.locks.writing("benchmark"):
                first = len(living.spoken.columns())
                living.spoken.add(rows)
                said = [at for at, row in enumerate(rows) if row["kind"] != "tool"]
                if embedding is not None and said:
                    vectors = embedding.around([topics[at] for at in said])
                    living.spoken.put_vectors([first + at for at in said], vectors)
            rows, topics = [], []
    with work.locks.writing("benchmark"):
        work.vectors.upkeep()
