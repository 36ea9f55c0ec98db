"""Verifying in the background: how far it is, how it ends, and that it can be stopped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event

import pytest
from builders import a_source, a_trace
from databases import a_store
from lexical import lexical_models
from tables import cases

from core.config import Config
from core.errors import ComponentUnavailable
from core.pipeline import Models
from pages.widgets.jobs import Stopped, estimate_words, pace_of, pace_words
from pages.widgets.verifying import TRACES_A_STEP, verification, verify_waiting
from storage.store import SqlStore, newest_of_file, only, sample_of

SECONDS = 60


@pytest.fixture
def store(tmp_path: Path) -> SqlStore:
    """A database in which three steps of traces wait."""
    store = a_store(tmp_path / "workbench.db")
    store.put_traces(
        a_trace("He takes 10 mg.", a_source("He takes 10 mg."), trace_id=f"t{n}")
        for n in range(3 * TRACES_A_STEP)
    )
    return store


def lexical(config: Config) -> Models:
    """Models that are there at once."""
    return lexical_models()


def test_what_waits_is_verified_and_counted(store: SqlStore) -> None:
    job = verification()

    job.start(partial(verify_waiting, store, Config(), load=lexical))

    assert job.future is not None
    assert job.future.result(SECONDS).verified == 3 * TRACES_A_STEP
    assert (job.done, job.total) == (3 * TRACES_A_STEP, 3 * TRACES_A_STEP)
    assert store.overview().waiting == 0
    assert not job.running


def test_a_stopped_run_keeps_what_it_verified_and_can_go_on(store: SqlStore) -> None:
    loading, stopped = Event(), Event()

    def load_when_told(config: Config) -> Models:
        loading.set()
        assert stopped.wait(SECONDS)
        return lexical_models()

    job = verification()
    job.start(partial(verify_waiting, store, Config(), load=load_when_told))
    assert loading.wait(SECONDS)
    job.stop()
    stopped.set()
    assert job.future is not None
    with pytest.raises(Stopped):
        job.future.result(SECONDS)
    waiting = store.overview().waiting

    job.start(partial(verify_waiting, store, Config(), load=load_when_told))

    assert job.future.result(SECONDS).verified == waiting > 0
    assert store.overview().waiting == 0


def test_starting_twice_starts_once(store: SqlStore) -> None:
    loading, go_on = Event(), Event()

    def load_slowly(config: Config) -> Models:
        loading.set()
        assert go_on.wait(SECONDS)
        return lexical_models()

    job = verification()
    job.start(partial(verify_waiting, store, Config(), load=load_slowly))
    first = job.future
    assert loading.wait(SECONDS)
    assert job.running and job.words() == "Loading the models …"

    job.start(partial(verify_waiting, store, Config(), load=load_slowly))
    go_on.set()

    assert job.future is first
    assert first is not None and first.result(SECONDS).verified == 3 * TRACES_A_STEP


def test_a_missing_model_ends_the_run_with_its_own_message(store: SqlStore) -> None:
    def no_models(config: Config) -> Models:
        raise ComponentUnavailable("calibrator/trees.npz: not there")

    job = verification()
    job.start(partial(verify_waiting, store, Config(), load=no_models))

    assert job.future is not None
    with pytest.raises(ComponentUnavailable, match="not there"):
        job.future.result(SECONDS)
    assert store.overview().waiting == 3 * TRACES_A_STEP


@cases
def test_progress_says_how_far_how_fast_and_how_long(
    done: int, total: int, seconds: float, words: str
) -> None:
    job = verification()
    job.done, job.total, job.began = done, total, 100.0

    assert job.words(now=100.0 + seconds) == words


def test_the_time_left_goes_down_while_a_step_is_under_way_and_never_grows() -> None:
    job = verification()
    job.done, job.total, job.began, job.steps = 8, 16, 100.0, [(8, 116.0)]

    said = [job.words(now=116.0 + seconds) for seconds in (0, 5, 10, 40)]

    assert [words.split("about ")[1].split(" left")[0] for words in said] == [
        "16 s", "11 s", "6 s", "1 s",
    ]  # fmt: skip
    assert "take longer" in said[-1] and "take longer" not in said[0]


def test_no_time_is_told_before_the_pace_is_steady_and_a_range_until_the_half() -> None:
    told = [pace_words(done, 100, "claims", 2.0 * done) for done in (9, 10, 49, 50)]

    assert [words.split(" · ")[2:] for words in told] == [
        [], ["3 min to 6 min left"], ["2 min to 3 min left"], ["about 2 min left"],
    ]  # fmt: skip


def test_an_estimate_gives_the_range_that_a_sample_leaves_open() -> None:
    assert pace_of([(0, 0.0), (4, 8.0)]) is None
    even = pace_of([(0, 0.0), (4, 8.0), (8, 16.0), (12, 24.0)])
    uneven = pace_of([(0, 0.0), (4, 4.0), (8, 20.0), (12, 24.0)])
    assert even is not None and uneven is not None

    assert estimate_words(even, 3_000) == "about 100 min"
    assert estimate_words(uneven, 3_000) == "about 100 min (between 2 min and 3 h 20 min)"


def test_a_sample_is_verified_before_the_rest_and_tells_the_pace(store: SqlStore) -> None:
    job = verification()
    part = only(store, sample_of(newest_of_file(store, None), 2 * TRACES_A_STEP))

    job.start(partial(verify_waiting, part, Config(), load=lexical))

    assert job.future is not None
    assert job.future.result(SECONDS).verified == 2 * TRACES_A_STEP
    assert store.overview().waiting == TRACES_A_STEP
    assert job.pace is not None and job.pace.n == 2 * TRACES_A_STEP
