"""Whatever the text, the answer is a query or a QueryError; a pipeline file likewise."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.cli.pipeline_file import routed
from dovetail.sql import parse_pipeline
from tests.language.cases import all_cases
from tests.language.catalogue import STREAMS

QUERIES = [case.text for folder in ("good", "bad") for case in all_cases(folder)]
FILES = [case.text for folder in ("pipelines/good", "pipelines/bad") for case in all_cases(folder)]
WORDS = """SELECT FROM WHERE WINDOW JOIN LEFT RIGHT FULL OUTER SEMI ANTI CROSS ON USING AS A B C T A.k B.k A.x B.y C.s
    k * , ; ( ) = <> < + - . 'x' "q" 1 10 2.5 MINUTES SECOND ROWS PER KEY AND OR NOT NULL TRUE COUNT( GROUP_BY ORDER_BY
    SUM( AVG( MIN( MAX( order late idle trigger
    LIMIT DISTINCT UNION WITH INTERVAL BETWEEN IN LATERAL VALUES PIVOT UNNEST( OVER FOR MATCH_RECOGNIZE TABLESAMPLE
    FINAL -- /* CREATE STREAM SINK INSERT INTO WATERMARK format path BIGINT ARRAY< > STRUCT< : TIMESTAMP DECIMAL( ts
    """.split()
VOCABULARY = [word.replace("_BY", " BY") for word in WORDS]
SETTINGS = settings(max_examples=150, deadline=None)


def bound(text: str) -> None:
    """A query, or a QueryError whose place lies in the text."""
    try:
        assert isinstance(dv.sql(text, *STREAMS), dv.Query)
    except dv.QueryError as error:
        check_place(text, str(error))


def read(text: str) -> None:
    """A pipeline whose queries bind, or a QueryError whose place lies in the text."""
    try:
        assert routed(parse_pipeline(text))
    except dv.QueryError as error:
        check_place(text, str(error))


def check_place(text: str, message: str) -> None:
    if message.startswith("line "):
        line, column = (int(part.split()[1]) for part in message.partition(":")[0].split(","))
        assert 1 <= line <= text.count("\n") + 1
        assert 1 <= column <= len(text.split("\n")[line - 1]) + 1


def mutated(text: str, seed: int) -> str:
    """The text with some words left out, doubled, swapped, or replaced."""
    chance, words = random.Random(seed), text.replace(",", " , ").replace("(", " ( ").replace(")", " ) ").split(" ")
    for _ in range(chance.randint(1, 4)):
        at, other = chance.randrange(len(words)), chance.randrange(len(words))
        change = chance.randrange(5)
        if change == 0 and len(words) > 1:
            del words[at]
        elif change == 1:
            words.insert(at, words[other])
        elif change == 2:
            words[at], words[other] = words[other], words[at]
        elif change == 3:
            words[at] = chance.choice(VOCABULARY)
        else:
            words.insert(at, chance.choice(VOCABULARY))
    return " ".join(words)


@SETTINGS
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    bound(text)
    read(text)
    bound(f"SELECT A.k FROM A, B WHERE {text} WINDOW 1 MINUTE")


@SETTINGS
@given(st.lists(st.sampled_from(VOCABULARY), max_size=15).map(" ".join))
def test_any_words(text: str) -> None:
    bound(f"SELECT {text}")
    bound(f"SELECT A.k FROM A, B WHERE A.k = B.k {text}")
    read(text)


@SETTINGS
@given(st.sampled_from(QUERIES), st.integers(0, 2**32))
def test_a_query_with_words_changed(text: str, seed: int) -> None:
    bound(mutated(text, seed))


@SETTINGS
@given(st.sampled_from(QUERIES), st.integers(0, 400), st.integers(0, 3), st.text(max_size=2))
def test_a_query_with_characters_changed(text: str, start: int, count: int, put: str) -> None:
    bound(text[:start] + put + text[start + count :])


@SETTINGS
@given(st.sampled_from(FILES), st.integers(0, 2**32))
def test_a_file_with_words_changed(text: str, seed: int) -> None:
    read(mutated(text, seed))


@SETTINGS
@given(st.sampled_from(FILES), st.integers(0, 400), st.integers(0, 3), st.text(max_size=2))
def test_a_file_with_characters_changed(text: str, start: int, count: int, put: str) -> None:
    read(text[:start] + put + text[start + count :])
