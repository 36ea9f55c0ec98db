"""The run-time forest against scikit-learn, and against artifacts that are not what they claim."""

from __future__ import annotations

import hashlib
import io
import json
import math
import shutil
import struct
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forests import a_calibrator
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from core.calibration.fit import fit_encoding, flatten
from core.calibration.rows import ROWS_FILE, read_training_rows
from core.errors import ComponentUnavailable, DamagedArtifact
from core.models.forest import (
    ACCURATE_FOLDER,
    DEFAULT_FOLDER,
    Forest,
    encode,
    load_forest,
    write_artifact,
)
from core.models.heard import BEFORE, HEARD, NOW, SUREST, Heard, heard_card
from core.ports import Calibrator
from core.records import (
    ABSENCE_FEATURE,
    CLOSE_FEATURE,
    CLOSE_READ_FEATURE,
    DISPUTED,
    DISPUTED_FROM,
    NLI_FEATURE,
    SHOWN_WRONG,
    VETOES_FEATURE,
    Features,
)
from core.verification.decision import held_by_veto

LABELS = ("entailment", "neutral", "contradiction")
TOOLS = ("chart", "literature", "labs")
NUMBERS = ("route_score", "pred_score", "claim_len")


def random_rows(count: int, seed: int) -> list[Features]:
    rng = np.random.default_rng(seed)
    return [
        Features(
            categorical={
                "verifier_label": str(rng.choice(LABELS)),
                "pred_tool": str(rng.choice(TOOLS)),
            },
            numeric={
                "route_score": float(rng.uniform(-1, 1)),
                "pred_score": round(float(rng.uniform()), 4),
                "claim_len": float(rng.integers(1, 60)),
            },
        )
        for _ in range(count)
    ]


def random_targets(rows: list[Features], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    score = np.array(
        [r.numeric["pred_score"] * (r.categorical["verifier_label"] == "entailment") for r in rows]
    )
    return score + rng.normal(0, 0.3, len(rows)) > 0.4


def grown_forest(seed: int, trees: int = 60) -> tuple[RandomForestClassifier, Forest]:
    rows = random_rows(600, seed)
    encoding = fit_encoding(rows)
    grown = RandomForestClassifier(
        n_estimators=trees, max_depth=5, min_samples_leaf=8, class_weight="balanced",
        random_state=seed,
    ).fit(encode(rows, encoding), random_targets(rows, seed))  # fmt: skip
    return grown, Forest(encoding, flatten(grown), 0.65, {"name": "test"})


@pytest.mark.parametrize("seed", range(5))
def test_the_forest_gives_scikit_learns_probabilities_on_rows_it_never_saw(seed: int) -> None:
    grown, forest = grown_forest(seed)
    columns = encode(random_rows(500, seed + 100), forest.encoding)

    ours = forest.exact_probabilities(columns)

    theirs = grown.predict_proba(columns)[:, 1]
    assert np.max(np.abs(ours - theirs)) <= 1e-12


@pytest.mark.parametrize("folder", [DEFAULT_FOLDER, ACCURATE_FOLDER], ids=["bundled", "accurate"])
def test_what_speaks_against_a_claim_never_raises_its_support(folder: Path) -> None:
    """On the shipped forest's own rows: neutral turned into contradiction, and each monotone feature."""
    forest = load_forest(folder)
    kept = read_training_rows(folder / ROWS_FILE)
    rows = [row.features for row in (*kept.validation, *kept.train)][::7]
    before = forest.probabilities(rows)

    for name, by in {
        "neutral_min": -1.0,
        "contradiction_max": 1.0,
        "contradiction_any": 1.0,
    }.items():
        worse = [_moved(row, name, by) for row in rows]
        assert np.all(forest.probabilities(worse) <= before)
    for name, sign in forest.card["settings"]["directions"]:
        more = [_moved(row, name, 1.0) for row in rows]
        assert np.all(sign * (forest.probabilities(more) - before) >= 0) or sign == 0


def _moved(row: Features, name: str, by: float) -> Features:
    return replace(row, numeric={**row.numeric, name: row.numeric[name] + by})


def test_the_encoding_is_scikit_learns_one_hot_and_standard_scaling() -> None:
    rows = random_rows(300, 3)
    names = ("verifier_label", "pred_tool")
    table = [[*(r.categorical[n] for n in names), *(r.numeric[n] for n in NUMBERS)] for r in rows]
    theirs = make_pipeline(
        ColumnTransformer(
            [
                ("hot", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [0, 1]),
                ("scaled", StandardScaler(), [2, 3, 4]),
            ]
        )
    ).fit_transform(np.array(table, dtype=object))

    ours = encode(rows, fit_encoding(rows))

    assert np.allclose(ours, np.asarray(theirs, dtype=float), atol=1e-6)


def test_an_unseen_category_encodes_as_zeros() -> None:
    rows = random_rows(50, 1)
    encoding = fit_encoding(rows)
    strange = Features(
        categorical={"verifier_label": "entailment", "pred_tool": "a tool nobody trained on"},
        numeric=rows[0].numeric,
    )

    column = dict(zip(encoding.columns, encode([strange], encoding)[0], strict=True))

    assert [column[f"pred_tool={tool}"] for tool in TOOLS] == [0.0, 0.0, 0.0]
    assert column["verifier_label=entailment"] == 1.0


@given(st.lists(st.integers(0, 199), min_size=1, max_size=40))
def test_a_probability_does_not_depend_on_the_rows_beside_it(places: list[int]) -> None:
    _, forest = grown_forest(7, trees=20)
    rows = random_rows(200, 11)

    together = forest.probabilities([rows[place] for place in places])

    assert [float(p) for p in together] == [
        float(forest.probabilities([rows[place]])[0]) for place in places
    ]
    assert ((together >= 0) & (together <= 1)).all()
    assert np.array_equal(together, np.round(together, 4))
    assert forest.probabilities([]).shape == (0,) and isinstance(forest, Calibrator)


def test_an_artifact_reads_back_as_the_same_forest_and_the_same_bytes(tmp_path: Path) -> None:
    _, forest = grown_forest(5)
    card = {"threshold": forest.threshold, "data": {"train": {"rows": 600}}}

    name = write_artifact(tmp_path / "a", forest.encoding, forest.trees, card)
    again = write_artifact(tmp_path / "b", forest.encoding, forest.trees, card)

    read = load_forest(tmp_path / "a")
    rows = random_rows(100, 9)
    assert np.array_equal(read.probabilities(rows), forest.probabilities(rows))
    assert (read.name, read.threshold) == (name, 0.65) and name == again
    for file in ("calibrator.json", "trees.npz", "manifest.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_running_a_forest_imports_no_scikit_learn() -> None:
    code = "import sys, core.models.forest; print('sklearn' in sys.modules)"

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "False"


@pytest.fixture()
def artifact(tmp_path: Path) -> Path:
    _, forest = grown_forest(5, trees=4)
    write_artifact(tmp_path / "calibrator", forest.encoding, forest.trees, {"threshold": 0.65})
    return tmp_path / "calibrator"


def seal(folder: Path) -> None:
    """The manifest of what is there now, as somebody would write it who changes an artifact."""
    names = ("calibrator.json", "trees.npz")
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    (folder / "manifest.json").write_text(json.dumps(digests))


def rewrite(folder: Path, change: dict[str, object]) -> None:
    """Change fields of the card, so that only the field is wrong."""
    card = json.loads((folder / "calibrator.json").read_text())
    (folder / "calibrator.json").write_text(json.dumps(card | change))
    seal(folder)


def test_a_missing_artifact_is_an_unavailable_component(tmp_path: Path) -> None:
    with pytest.raises(ComponentUnavailable, match="no calibrator at"):
        load_forest(tmp_path / "nowhere")


@pytest.mark.parametrize("file", ["calibrator.json", "trees.npz"])
def test_one_changed_byte_and_a_missing_file_are_noticed(artifact: Path, file: str) -> None:
    data = bytearray((artifact / file).read_bytes())
    data[len(data) // 2] ^= 1
    (artifact / file).write_bytes(bytes(data))

    with pytest.raises(DamagedArtifact, match=f"{file}: its SHA-256"):
        load_forest(artifact)
    (artifact / file).unlink()
    with pytest.raises(DamagedArtifact, match=file):
        load_forest(artifact)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"format": "something else"}, "format: "),
        ({"format_version": 99}, "format_version"),
        ({"threshold": None}, "threshold: "),
        ({"threshold": True}, "threshold"),
        ({"threshold": 1.5}, "threshold: "),
        ({"categorical": []}, "categorical"),
        ({"categorical": {"pred_tool": "chart"}}, "categorical.pred_tool"),
        ({"categorical": {"pred_tool": ["a", "a"]}}, "listed twice"),
        ({"numeric": {}}, "numeric: "),
        ({"numeric": [{"name": "x", "mean": "0", "scale": 1}]}, r"numeric\[0\].mean"),
        ({"numeric": [{"name": "x", "mean": 0, "scale": 0}]}, r"numeric\[0\].scale"),
        ({"numeric": []}, "feature: a node reads a column that does not exist"),
        ({"threshold": 0.01}, "name"),
        ({"name": "forest-000000000000"}, "name"),
    ],
)
def test_a_malformed_card_names_its_field(
    artifact: Path, change: dict[str, object], named: str
) -> None:
    rewrite(artifact, change)

    with pytest.raises(DamagedArtifact, match=named):
        load_forest(artifact)


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("left", 0, "left: a child does not come after its parent"),
        ("right", 10**6, "right: a child"),
        ("value", 1.5, "value: not a probability"),
        ("value", float("nan"), "value: not a probability"),
        ("threshold", float("inf"), "threshold: not a finite number"),
        ("feature", -7, "feature"),
        ("roots", -1, "roots"),
    ],
)
def test_trees_that_could_not_end_are_refused(
    tmp_path: Path, name: str, value: float, named: str
) -> None:
    _, forest = grown_forest(5, trees=4)
    array = getattr(forest.trees, name)
    array[0] = value
    write_artifact(tmp_path, forest.encoding, forest.trees, {"threshold": 0.65})

    with pytest.raises(DamagedArtifact, match=named):
        load_forest(tmp_path)


def test_a_pickle_in_place_of_the_arrays_is_never_run(artifact: Path) -> None:
    import pickle

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str, ...]]:
            return (Path.touch, (artifact / "ran",))  # type: ignore[return-value]

    (artifact / "trees.npz").write_bytes(pickle.dumps(Bomb()))
    seal(artifact)

    with pytest.raises(DamagedArtifact, match="trees.npz"):
        load_forest(artifact)
    assert not (artifact / "ran").exists()


def test_a_feature_that_the_pipeline_lacks_is_named() -> None:
    _, forest = grown_forest(1, trees=3)
    row = random_rows(1, 0)[0]
    short = Features(categorical=row.categorical, numeric={"route_score": 0.1, "pred_score": 0.2})

    with pytest.raises(DamagedArtifact, match="claim_len"):
        forest.probabilities([short])


def test_a_number_that_is_none_is_refused() -> None:
    _, forest = grown_forest(1, trees=3)
    row = random_rows(1, 0)[0]
    bad = Features(categorical=row.categorical, numeric={**row.numeric, "pred_score": float("nan")})

    with pytest.raises(DamagedArtifact, match="pred_score is nan"):
        forest.probabilities([bad])


def test_the_shipped_folder_can_be_copied_elsewhere(artifact: Path, tmp_path: Path) -> None:
    shutil.copytree(artifact, tmp_path / "elsewhere")

    assert load_forest(tmp_path / "elsewhere").name == load_forest(artifact).name


@pytest.mark.stress
@given(
    said=st.lists(st.floats(0, 1), min_size=1, max_size=12),
    best=st.lists(st.none() | st.floats(0, 1), min_size=12, max_size=12),
    read=st.lists(st.booleans(), min_size=12, max_size=12),
    looked_for=st.lists(st.sampled_from((-1.0, 0.0, 1.0)), min_size=12, max_size=12),
    heard=st.sampled_from((NOW, BEFORE)),
)
def test_readings_are_heard_beside_the_trees_by_the_weights_of_the_card(
    said: list[float],
    best: list[float | None],
    read: list[bool],
    looked_for: list[float],
    heard: Heard,
) -> None:
    _, grown = grown_forest(3)
    forest = Forest(grown.encoding, grown.trees, 0.5, {HEARD: heard_card(heard)})
    plain = random_rows(len(said), 11)
    rows = [
        replace(
            row,
            numeric={
                **row.numeric,
                CLOSE_FEATURE: one,
                CLOSE_READ_FEATURE: float(close),
                ABSENCE_FEATURE: absent,
                **({} if any_ is None else {NLI_FEATURE: any_}),
            },
        )
        for row, one, any_, close, absent in zip(plain, said, best, read, looked_for, strict=False)
    ]

    found = forest.probabilities(rows)

    for alone, both, one, any_, close, absent in zip(
        forest.probabilities(plain), found, said, best, read, looked_for, strict=False
    ):
        parts = [(heard.close, one)] if close else []
        parts += [(heard.reading, any_)] if any_ is not None and heard.reading else []
        if not parts or absent > 0:
            assert both == alone
            continue
        odds = [
            min(max(side, SUREST), 1 - SUREST) for side in (float(alone), *(p for _, p in parts))
        ]
        odds = [side / (1 - side) for side in odds]
        together = odds[0] ** (1 - sum(weight for weight, _ in parts))
        for (weight, _), side in zip(parts, odds[1:], strict=True):
            together *= side**weight
        together *= math.exp(heard.shift) if close else 1.0
        assert both == pytest.approx(together / (1 + together), abs=2e-3)
        assert 0.0 < both < 1.0


def test_what_a_check_vetoes_is_held_down_and_lower_where_nothing_disputes_it() -> None:
    _, forest = grown_forest(3)
    plain = random_rows(200, 12)
    vetoed = [replace(row, numeric={**row.numeric, VETOES_FEATURE: 1.0}) for row in plain]

    free, held = forest.probabilities(plain), forest.probabilities(vetoed)

    carried = free >= DISPUTED_FROM
    assert carried.any() and not carried.all()
    assert (held[carried] == DISPUTED).all()
    assert (held[~carried] == np.minimum(free[~carried], SHOWN_WRONG)).all()
    for one, threshold in zip(held, (0.05, 0.3, 0.55, 0.9) * 50, strict=True):
        assert held_by_veto(float(one), threshold) < threshold


def test_a_card_without_weights_hears_as_calibrators_did_before_and_a_wrong_one_is_refused() -> (
    None
):
    _, grown = grown_forest(3)

    assert grown.heard == BEFORE
    for odd in (0.5, {"close": 0.7, "shift": 0.0, "reading": 0.4}, {"close": -0.1}):
        with pytest.raises(DamagedArtifact, match="heard"):
            Forest(grown.encoding, grown.trees, 0.5, {HEARD: odd})


# ---------------------------------------------------------------- a name is its content


def test_other_trees_under_the_same_card_are_refused(tmp_path: Path) -> None:
    a_calibrator(tmp_path / "one", above=0.9)
    a_calibrator(tmp_path / "two", above=1.0)
    (tmp_path / "one" / "trees.npz").write_bytes((tmp_path / "two" / "trees.npz").read_bytes())
    seal(tmp_path / "one")

    with pytest.raises(DamagedArtifact, match="name"):
        load_forest(tmp_path / "one")


def test_thresholds_and_trees_that_differ_have_names_that_differ(tmp_path: Path) -> None:
    names = {
        a_calibrator(tmp_path / str(at), threshold=threshold, above=above)
        for at, (threshold, above) in enumerate([(0.5, 0.9), (0.6, 0.9), (0.5, 0.8)])
    }

    assert len(names) == 3
    assert load_forest(tmp_path / "0").name in names


def test_a_header_of_800_gigabytes_is_refused_before_anything_is_made_for_it(
    tmp_path: Path,
) -> None:
    a_calibrator(tmp_path)
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
    head += b" " * (118 - len(head) - 1) + b"\n"
    claims = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\x00" * 64
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in ("roots", "feature", "threshold", "left", "right", "value"):
            archive.writestr(f"{name}.npy", claims)
    (tmp_path / "trees.npz").write_bytes(stream.getvalue())
    seal(tmp_path)

    with pytest.raises(DamagedArtifact, match="claims 800000000000 bytes"):
        load_forest(tmp_path)
