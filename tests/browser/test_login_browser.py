"""Logging in, with a real secrets file: the cookie that it signs, and a small provider of our own."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from browsing import SETTLED, Visit, watched
from databases import workspace_of
from playwright.sync_api import Browser, expect
from reviewing import an_office
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from core.review.records import Role
from storage.people import FIRST_LEAD
from storage.store import open_store

COOKIE_SECRET = "0123456789abcdef0123456789abcdef"
SECRETS = """
[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "{cookie_secret}"
client_id = "workbench"
client_secret = "not used here"
server_metadata_url = "{provider}/.well-known/openid-configuration"
"""
EVERY_PAGE = (
    "", "traces", "verdict?trace=review-0001", "repair", "repair?trace=review-0001", "review",
    "adjudicate", "thresholds", "evaluation",
    "agreement", "recalibrate", "export", "audit", "people", "settings",
)  # fmt: skip
ANSWER = "Her weight is 71.4 kg."


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database that was used without login so far: its lead has no address."""
    file = tmp_path / "workbench.db"
    an_office(open_store(str(file), actor="test"), traces=1).store.close()
    return file


@pytest.fixture
def provider() -> Iterator[str]:
    """The address of a provider that knows everybody as Ada."""
    pytest.importorskip("authlib", reason="the extra `login` is not installed")
    from joserfc import jwt
    from joserfc.jwk import RSAKey

    key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
    asked: dict[str, str] = {}

    class Provider(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place = urlsplit(self.path)
            if place.path == "/authorize":
                asked.update(dict(parse_qsl(place.query)))
                back = urlencode({"code": "a-code", "state": asked["state"]})
                self.send_response(302)
                self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                self.end_headers()
            elif place.path == "/keys":
                self.say({"keys": [key.as_dict(private=False)]})
            else:
                self.say(
                    {
                        "issuer": here,
                        "authorization_endpoint": f"{here}/authorize",
                        "token_endpoint": f"{here}/token",
                        "jwks_uri": f"{here}/keys",
                        "id_token_signing_alg_values_supported": ["RS256"],
                    }
                )

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            now = int(time.time())
            said = {
                "iss": here, "aud": "workbench", "sub": "1", "iat": now, "exp": now + 600,
                "nonce": asked["nonce"], "email": "ada@example.org", "email_verified": True,
                "name": "Ada Okafor",
            }  # fmt: skip
            token = jwt.encode({"alg": "RS256", "kid": "1"}, said, key)
            self.say({"access_token": "unused", "token_type": "Bearer", "id_token": token})

        def say(self, what: object) -> None:
            body = json.dumps(what).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        here = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield here
        server.shutdown()


@pytest.fixture
def url(
    request: pytest.FixtureRequest,
    database: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    serve: Callable[[Path], AbstractContextManager[str]],
) -> Iterator[str]:
    """A workbench with logins, started by somebody who names the first lead."""
    home = tmp_path / "home"
    (home / ".streamlit").mkdir(parents=True)
    # Nothing listens at port 9, unless a test brings a provider.
    address = getattr(request, "param", None) and request.getfixturevalue(request.param)
    (home / ".streamlit" / "secrets.toml").write_text(
        SECRETS.format(cookie_secret=COOKIE_SECRET, provider=address or "http://127.0.0.1:9")
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv(FIRST_LEAD, "ada@example.org")
    with serve(database) as workbench:
        yield workbench


def somebody(chromium: Browser, url: str, **login: object) -> Visit:
    """A browser of its own; with the cookie of a login, if one is given."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    if login:
        # What a provider's answer becomes: signed with the secret of the file, for this workbench.
        said = json.dumps({"is_logged_in": True, "origin": url, **login})
        value = create_signed_value(COOKIE_SECRET, "_streamlit_user", said).decode()
        context.add_cookies([{"name": "_streamlit_user", "value": value, "url": url}])
    return watched(context, url)


def test_without_a_login_no_page_shows_anything_but_the_way_in(
    chromium: Browser, url: str, database: Path
) -> None:
    visit = somebody(chromium, url)

    for path in EVERY_PAGE:
        page = visit.open(path, "text=Who are you?")
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        assert ANSWER not in page.content() and "Ada" not in page.content()

    assert visit.faults == []
    assert visit.outside() == []


def test_the_named_address_becomes_lead_and_another_is_told_what_to_do(
    chromium: Browser, url: str, database: Path
) -> None:
    eve = somebody(chromium, url, email="eve@example.org", name="Eve")
    page = eve.open("people", "text=Nobody who can log in leads")
    expect(page.get_by_text(FIRST_LEAD)).to_be_visible()

    unsure = somebody(chromium, url, email="ada@example.org", name="Ada", email_verified=False)
    unsure.open("people", "text=This address is not confirmed")

    ada = somebody(chromium, url, email="ada@example.org", name="Ada Okafor", email_verified=True)
    page = ada.open("people", "text=Who works here")
    expect(page.get_by_text("Ada Okafor").first).to_be_visible()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    expect(page.get_by_text("Practise as")).to_have_count(0)
    page.get_by_label("Name", exact=True).fill("Ben Haas")
    page.get_by_label("E-mail that they log in with").fill("ben@example.org")
    page.get_by_role("button", name="Add this person").click()
    page.get_by_text("ben@example.org").first.wait_for()
    page.wait_for_selector(SETTLED)

    eve.open("people", "text=You are not in this workbench yet")
    people = workspace_of(open_store(str(database))).people
    assert people.by_email("ada@example.org").roles == {Role.LEAD}
    assert people.by_email("ben@example.org").name == "Ben Haas"


@pytest.mark.journey
def test_a_cookie_signed_with_another_secret_is_no_login(
    chromium: Browser, url: str, database: Path
) -> None:
    visit = somebody(chromium, url)
    said = json.dumps({"is_logged_in": True, "origin": url, "email": "ada@example.org"})
    forged = create_signed_value("f" * 32, "_streamlit_user", said).decode()
    visit.page.context.add_cookies([{"name": "_streamlit_user", "value": forged, "url": url}])

    visit.open("people", "text=Who are you?")

    assert not workspace_of(open_store(str(database))).people.led_by_login()


def test_an_address_as_parameter_makes_nobody_anybody_where_people_log_in(
    chromium: Browser, url: str, database: Path
) -> None:
    lead = workspace_of(open_store(str(database))).people.by_name("Lea")

    page = somebody(chromium, url).open(f"people?as={lead.person_id}", "text=Who are you?")

    assert "Lea" not in page.content()


@pytest.mark.parametrize("url", ["provider"], indirect=True)
def test_the_first_lead_logs_in_with_a_provider_and_out_again(
    chromium: Browser, url: str, database: Path
) -> None:
    visit = somebody(chromium, url)
    page = visit.open("people", "text=Who are you?")

    page.get_by_role("button", name="Log in").click()

    page.get_by_role("button", name="Log out").wait_for()
    page.wait_for_selector(SETTLED)
    expect(page.get_by_text("Ada Okafor").first).to_be_visible()
    assert workspace_of(open_store(str(database))).people.by_email("ada@example.org").roles == {
        Role.LEAD
    }
    page.get_by_role("button", name="Log out").click()
    page.get_by_text("Who are you?").wait_for()


def test_without_the_extra_or_a_provider_the_way_in_says_what_is_missing(
    chromium: Browser, url: str
) -> None:
    page = somebody(chromium, url).open("people", "text=Who are you?")

    page.get_by_role("button", name="Log in").click()

    if importlib.util.find_spec("authlib") is None:
        page.get_by_text("Logging in is not installed").wait_for()
    else:  # the browser is sent to a provider that nobody answers for
        page.wait_for_url("**/auth/login**")
