"""Chinese text: cut into words, compared by them, and by their English where a claim is English."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.evidence.words import said_share, stems
from core.text.han import FUNCTION_WORDS, english_of, han_words, parts_of, word_places
from core.text.tokens import content_bigrams, content_terms, overlap

HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1, max_size=24)


@given(HAN)
def test_words_lie_in_the_run_where_they_are_said_to(run: str) -> None:
    places = list(word_places(run))
    assert all(run[at : at + len(word)] == word for at, word in places)
    assert tuple(word for _, word in places) == han_words(run)
    left = set(run) - {letter for _, word in places for letter in word}
    assert left <= {letter for word in FUNCTION_WORDS for letter in word}


@given(HAN, st.text("abc 12.-", max_size=12))
def test_nothing_of_a_mixed_word_is_lost_or_made_up(run: str, beside: str) -> None:
    parts = parts_of(f"{beside}{run}")
    assert "".join(parts).startswith(beside)
    assert [part for part in parts if part in han_words(run)] == list(han_words(run))


def test_the_longest_word_is_taken_and_function_words_are_none() -> None:
    assert han_words("动物园枢纽站") == ("动物园", "枢纽", "站")
    assert han_words("这位病人的体重") == ("病人", "体重")


def test_english_is_of_the_meaning_the_name_and_the_sound() -> None:
    assert {"cooking", "wine"} <= english_of("料酒")
    assert {"second", "class", "seat"} <= english_of("二等座")
    assert {"beijing", "south"} <= english_of("北京南")
    assert "kuaichong" in english_of("云快充") and "yunkuaichong" in english_of("云快充")
    # What the dictionary says of the entry itself is no meaning of it.
    assert not {"cl", "abbr", "variant"} & english_of("天津")


def test_chinese_claims_share_words_with_chinese_records() -> None:
    record = content_terms("体重: 62 公斤, 身高: 170 厘米")
    assert overlap(content_terms("病人的体重是 62 公斤"), record) >= 0.5
    assert overlap(content_terms("病人的血压很高"), record) < 0.3
    assert ("病人", "体重") in content_bigrams("病人的体重")


def test_english_claims_share_words_with_chinese_records_and_ascii_is_as_before() -> None:
    assert {"cook", "wine"} <= content_terms("料酒 20ml")
    assert content_terms("cooking wine 20 ml") == frozenset({"cook", "wine", "20", "ml"})
    assert "tianjin" in stems("北京 -> 天津")
    assert said_share(frozenset({"二等", "座"}), stems("second class seats")) == 1.0
    assert said_share(frozenset({"二等", "座"}), stems("the dining car")) == 0.0
