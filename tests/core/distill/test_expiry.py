"""When dated or passing information ends, and what has no end."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alaya_core.models.card_types import CardType
from alaya_core.services.distill.expiry import expires_at
from tests.core.distill.helpers import distilled, said

SAID = int(datetime(2026, 3, 4, 10, tzinfo=UTC).timestamp() * 1000)  # a Wednesday
ENDS = {
    "The demo is tomorrow at 10am": "2026-03-05",
    "There is a meeting today at 3": "2026-03-04",
    "I'm away this afternoon": "2026-03-04",
    "Next week I'm on holiday": "2026-03-15",
    "The release is next Friday": "2026-03-13",
    "The release is on Friday": "2026-03-06",
    "We launch on March 14": "2026-03-14",
    "The freeze lasts until June": "2026-06-30",
    "The freeze lasts until 5 June": "2026-06-05",
    "The report is needed by Friday": "2026-03-06",
    "The certificate expires 2026-12-31": "2026-12-31",
    "The license is valid until 2027-01-31": "2027-01-31",
    "The passport expires on May 1, 2027": "2027-05-01",
    "The meeting is at 5pm": "2026-03-04",
    "The staging server is down right now": "2026-03-04",
    "The conference runs from December 3 to December 10": "2026-12-10",
    "In three weeks we move to Oslo": "2026-03-25",
    "My daughter starts school on September 4, 2026": "2026-09-04",
    "The budget is frozen until the end of the year": "2026-12-31",
    "The visa runs out on February 29": "2028-02-29",
    "明天公司停电": "2026-03-05",
    "今天下午开会": "2026-03-04",
    "下周三上线新版本": "2026-03-11",
    "3月14日发布新版本": "2026-03-14",
    "停机维护到6月底": "2026-06-30",
    "有效期至2026年12月31日": "2026-12-31",
    "周五之前要交报告": "2026-03-06",
    "下个月18号妈妈做手术": "2026-04-18",
    "后天面试": "2026-03-06",
    "三天后出发": "2026-03-07",
    "会议在下午五点开会": "2026-03-04",
    "合同到明年6月底": "2027-06-30",
    "十二月五号之前都在出差": "2026-12-05",
    "明天就放假了": "2026-03-05",
}
NO_END = (
    "We launched on March 14",
    "The daily standup is at 10am",
    "The team meets every Friday",
    "My birthday is on March 14",
    "Python 3.12 is used since March 2025",
    "All reports must be filed by Friday",
    "The model gpt-2026-12-31 is used",
    "From June on, the price is 10 euros",
    "I moved to Porto last week",
    "Today I bought a new bike",
    "We decided to use Postgres next week",
    "The reports job must finish before 05:00 UTC",
    "It rains a lot in July",
    "The call went out on February 30",
    "每周三开例会",
    "生日是3月14日",
    "3月1日发布了新版本",
    "上周三我去了北京",
    "今天买了新自行车",
    "从6月起价格是10元",
    "每月5号之前提交",
    "我们决定下周用Postgres",
    "我家在3号楼",
)


@pytest.mark.parametrize(("text", "day"), ENDS.items())
def test_it_ends_with_the_last_day_it_names(text: str, day: str) -> None:
    end = expires_at(text, SAID)
    assert end is not None
    assert datetime.fromtimestamp(end / 1000, UTC).isoformat(timespec="milliseconds") == f"{day}T23:59:59.999+00:00"


@pytest.mark.parametrize("text", NO_END)
def test_what_comes_again_begins_happened_or_is_a_rule_has_no_end(text: str) -> None:
    assert expires_at(text, SAID) is None


def test_cards_by_rules_have_their_end() -> None:
    (card,) = distilled(said("The office is closed tomorrow.", at=SAID)).cards
    assert card.expires_at == expires_at("tomorrow", SAID)
    (lasting,) = distilled(said("I prefer tea on Friday, it is important.", at=SAID)).cards
    assert lasting.type is CardType.PREFERENCE
    assert lasting.expires_at is None


_WORDS = st.sampled_from(
    [
        *("next", "on", "Friday", "March", "31", "2026-02-30", "until", "the end of", "in", "999", "months"),
        *(
            "9999-12-31",
            "到",
            "月底",
            "下周",
            "三",
            "号",
            "十",
            "99",
            "年",
            "明",
            "后天",
            "today",
            "every",
            "\U0001f600",
        ),
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_WORDS, max_size=12).map(" ".join) | st.text(max_size=80), st.integers(0, 253_402_300_799_000))
def test_any_text_at_any_time(text: str, at: int) -> None:
    end = expires_at(text, at)
    assert end is None or end >= at
