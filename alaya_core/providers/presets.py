"""Embedding services and model families known by name: one row each."""

from __future__ import annotations

import re
from dataclasses import dataclass

BUNDLED_MODEL = "use-multilingual-v3"
"""The model of the provider `bundled`, under the name that is recorded with its vectors."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A service.

    Attributes:
        base_url: Up to and without `/embeddings`; empty where only the user knows.
        model: The default model; empty where there is none.
        key_env: The usual environment variable of its key; empty for none.
        needs_key: Whether it answers nobody without one.
        max_batch: Texts it takes in one request.
        max_tokens: The longest text it takes, where the model's family does not say.
        task_field, query_task, passage_task: The field that says what a text is for, and its two values.
        dimensions_field: What the service calls the number of dimensions.
        sends_encoding_format: Whether it accepts `encoding_format: float`.
    """

    base_url: str = ""
    model: str = ""
    key_env: str = ""
    needs_key: bool = False
    max_batch: int = 32
    max_tokens: int = 512
    task_field: str = ""
    query_task: str = ""
    passage_task: str = ""
    dimensions_field: str = "dimensions"
    sends_encoding_format: bool = True


PRESETS: dict[str, Preset] = {
    "siliconflow": Preset(
        "https://api.siliconflow.cn/v1", "BAAI/bge-large-zh-v1.5", "SILICONFLOW_API_KEY", needs_key=True, max_batch=32
    ),
    "openai": Preset(
        "https://api.openai.com/v1",
        "text-embedding-3-small",
        "OPENAI_API_KEY",
        needs_key=True,
        max_batch=256,
        max_tokens=8000,
    ),
    "ollama": Preset("http://127.0.0.1:11434/v1", "bge-m3", max_batch=32),
    "llamacpp": Preset("http://127.0.0.1:8080/v1", "default", max_batch=16),
    "jina": Preset(
        "https://api.jina.ai/v1",
        "jina-embeddings-v3",
        "JINA_API_KEY",
        needs_key=True,
        max_batch=128,
        max_tokens=8000,
        task_field="task",
        query_task="retrieval.query",
        passage_task="retrieval.passage",
    ),
    "voyage": Preset(
        "https://api.voyageai.com/v1",
        "voyage-3.5",
        "VOYAGE_API_KEY",
        needs_key=True,
        max_batch=128,
        max_tokens=30000,
        task_field="input_type",
        query_task="query",
        passage_task="document",
        dimensions_field="output_dimension",
        sends_encoding_format=False,
    ),
    "openai-compatible": Preset(),
}


@dataclass(frozen=True, slots=True)
class Family:
    """Models that were trained with the same prefixes.

    Attributes:
        pattern: Found in the model's name, whatever the case.
        query_prefix, passage_prefix: Put before every text.
        max_tokens: The longest text; 0 where it is not known.
    """

    pattern: str
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 0

    def matches(self, model: str) -> bool:
        """Whether the model is of this family."""
        return re.search(self.pattern, model, re.IGNORECASE) is not None


_ASK = "Instruct: Given a question, retrieve passages that answer it\nQuery: "

FAMILIES: tuple[Family, ...] = (
    Family(r"bge-m3", max_tokens=8000),
    Family(r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", max_tokens=500),
    Family(
        r"(bge-(small|base|large)-en|mxbai-embed)", "Represent this sentence for searching relevant passages: ", "", 500
    ),
    Family(r"e5-.*instruct", _ASK, max_tokens=500),
    Family(r"(^|[/_-])e5-", "query: ", "passage: ", 500),
    Family(r"nomic-embed", "search_query: ", "search_document: ", 2000),
    Family(r"qwen3-embedding", _ASK, max_tokens=8000),
)
"""The first that matches counts."""
