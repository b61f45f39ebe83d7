"""Who makes the vectors of a generation: whoever made those that are in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alaya_core.errors import AlayaError, ProviderError, VectorMismatchError
from alaya_core.providers.embedding import EmbeddingSettings, check_same
from alaya_core.services.embedding_choice import configured, made_by, same_kind
from alaya_core.services.workspace import Workspace
from alaya_core.stores.vector_state import VectorMark

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from alaya_core.services.embedding import Embedder


_LONGEST_QUERY = 2_000
"""Characters of a query whose meaning is asked: whoever pastes more waits for nothing better."""


def embedder_of(workspace: Workspace, mark: VectorMark) -> Embedder:
    """The embedding that queries against a generation, and cards added to it, must be embedded by.

    Raises:
        VectorMismatchError: There are no vectors, or nobody can tell how they were made.
        ConfigError: The embedding that made them cannot be used now, e.g. its key is missing.
    """
    if not mark.dimensions:
        raise VectorMismatchError("no vectors are stored yet", "alaya rebuild l1")
    stored = made_by(mark)
    if same_kind(configured(workspace.config), mark) or stored is None:
        embedder = workspace.embedder
    else:
        embedder = workspace.embedder_by(stored)
    check_same(mark.model, mark.dimensions, embedder.provider)
    return embedder


def query_vector(embedder: Embedder, mark: VectorMark, text: str) -> NDArray[np.float32]:
    """The vector of a search, of the length of those that are stored.

    Raises:
        ProviderError: The provider does not answer.
        VectorMismatchError: It answers with vectors of another length.
    """
    vector = embedder.query(text[:_LONGEST_QUERY])
    if len(vector) != mark.dimensions:
        raise VectorMismatchError(
            f"{mark.model} answers with {len(vector)} numbers, the stored vectors have {mark.dimensions}",
            "alaya reembed",
        )
    return vector


def asked_by(workspace: Workspace, mark: VectorMark, text: str) -> tuple[Embedder, NDArray[np.float32]]:
    """Who made the vectors of a generation, its scale measured, and the vector of a search by it.

    Raises:
        AlayaError: As `embedder_of` and `query_vector`.
    """
    embedder = embedder_of(workspace, mark)
    vector = query_vector(embedder, mark, text)
    embedder.background()
    return embedder, vector


def without_vectors(error: AlayaError) -> str:
    """Why meaning was not asked, in words for `degraded`."""
    hint = f" ({error.hint})" if error.hint and isinstance(error, ProviderError) else ""
    return f"no vectors: {error.message}{hint}"


def length_of(embedder: Embedder) -> int:
    """How many numbers a vector of an embedding has; asks where nobody knows yet.

    Raises:
        ProviderError: It has to be asked, and does not answer.
    """
    provider = embedder.provider
    return provider.dimensions or len(provider.embed_query("alaya"))


def usual_length(settings: EmbeddingSettings, embedder: Embedder, mark: VectorMark) -> int:
    """How many numbers a vector of an embedding has, as far as that is known without asking; 0 = it is not."""
    known = embedder.provider.dimensions
    return known or (mark.dimensions if same_kind(settings, mark) else 0)
