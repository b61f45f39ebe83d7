"""The title of a card whose author gave none."""

import pytest

from alaya_core.services.card_making import title_of
from alaya_core.text import cells


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("plugins.allow must name every plugin. Else it is not loaded.", "plugins.allow must name every plugin"),
        ("Python 3.11.7 works", "Python 3.11.7 works"),
        ("重启网关前先检查配置。否则会丢失通知。", "重启网关前先检查配置"),
        ("# A heading\n\nand a text", "A heading"),
        ("Is it up? Yes.", "Is it up?"),
    ],
)
def test_it_is_the_first_sentence_whole(content, title):
    assert title_of(content) == title


def test_a_long_one_ends_between_words():
    title = title_of("every word of this sentence is whole " * 10)
    assert cells(title) <= 80
    assert set(title.split()) <= {"every", "word", "of", "this", "sentence", "is", "whole"}
