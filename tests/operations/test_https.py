"""Reads over TLS from a real server on loopback: whom they trust, and what they call no answer."""

from __future__ import annotations

import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from operations import https
from operations.hetzner import Hetzner
from operations.https import RefusedError, Server, UnansweredError
from operations.proxmox import Proxmox
from tests.operations.certificates import Authority, authority

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "lab-acme@pve!hybrid=11111111-2222-4333-8444-555555555555"


class Replies(BaseHTTPRequestHandler):
    """Answers by path; keeps what was asked, and with which header."""

    asked: list[tuple[str, str]]

    def do_GET(self) -> None:
        """Answer."""
        self.asked.append((self.path, self.headers.get("Authorization", "")))
        path = self.path.partition("?")[0].removeprefix("/api2/json")
        if path == "/slow":
            time.sleep(1)
        if path.removeprefix("/").isdecimal():
            self._say(int(path.removeprefix("/")), {})
        elif path == "/text":
            self._say(200, "<html>")
        elif path == "/version":
            self._say(200, {"data": {"version": "8.4.1"}})
        elif path == "/access/permissions":
            self._say(200, {"data": {"/pool/lab-acme": {"VM.Audit": 0}, "/": {}}})
        else:
            self._say(200, {"data": None})

    def _say(self, status: int, body: Any) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        if status in (301, 302, 307):
            self.send_header("Location", "/version")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


class Quiet(ThreadingHTTPServer):
    """Says nothing of clients that hang up on its certificate."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("own") / "own")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("other") / "other")


@pytest.fixture
def asked() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def port(own: Authority, asked: list[tuple[str, str]]) -> Iterator[int]:
    class Handler(Replies):
        pass

    Handler.asked = asked
    server = Quiet(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.certificate, own.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_a_private_authority_is_trusted_where_the_location_names_it(
    port: int, own: Authority, asked: list[tuple[str, str]]
) -> None:
    pve = Proxmox(Server(f"https://localhost:{port}", own.pem), TOKEN)
    assert pve.version() == 8
    assert pve.permissions() == {"/pool/lab-acme": {"VM.Audit": 0}}
    assert pve.permissions("/vms/100")
    assert asked == [
        ("/api2/json/version", f"PVEAPIToken={TOKEN}"),
        ("/api2/json/access/permissions", f"PVEAPIToken={TOKEN}"),
        ("/api2/json/access/permissions?path=%2Fvms%2F100", f"PVEAPIToken={TOKEN}"),
    ]


def refused(server: Server, path: str = "/version") -> str:
    with pytest.raises(UnansweredError) as error:
        Proxmox(server, TOKEN)._get(path, dict)
    said = str(error.value)
    assert TOKEN not in said
    assert "5555" not in said
    return said


def test_another_authority_none_and_another_name_are_refused_before_the_token_is_sent(
    port: int, own: Authority, other: Authority, asked: list[tuple[str, str]]
) -> None:
    assert "certificate is refused" in refused(Server(f"https://localhost:{port}", other.pem))
    assert "certificate is refused" in refused(Server(f"https://localhost:{port}"))
    assert "certificate is refused" in refused(Server(f"https://127.0.0.1:{port}", own.pem))
    assert asked == []


def test_what_is_no_certificate_is_said_and_nothing_is_asked(port: int, asked: list[tuple[str, str]]) -> None:
    pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    assert "no certificate" in refused(Server(f"https://localhost:{port}", pem))
    assert asked == []


@pytest.mark.parametrize("status", [401, 403, 404, 500, 595])
def test_a_refusal_is_no_answer(port: int, own: Authority, status: int) -> None:
    assert refused(Server(f"https://localhost:{port}", own.pem), f"/{status}") == f"HTTP {status}"


def test_what_can_not_be_sent_is_said_without_it(port: int, own: Authority, asked: list[tuple[str, str]]) -> None:
    for spoilt in ("\n", "\N{REPLACEMENT CHARACTER}"):
        with pytest.raises(UnansweredError, match="can not be sent") as error:
            Proxmox(Server(f"https://localhost:{port}", own.pem), TOKEN + spoilt).version()
        assert "5555" not in str(error.value)
        assert error.value.__suppress_context__
    assert asked == []


def test_the_authority_of_a_proxmox_cluster_is_trusted_by_every_python(
    port: int, own: Authority, other: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no key usage, and Python 3.13 and later refuse such unless told otherwise."""
    usual = ssl.create_default_context

    def strict(**arguments: Any) -> ssl.SSLContext:
        context = usual(**arguments)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    assert Proxmox(Server(f"https://localhost:{port}", own.pem), TOKEN).version() == 8
    assert "certificate is refused" in refused(Server(f"https://localhost:{port}", other.pem))
    assert "certificate is refused" in refused(Server(f"https://127.0.0.1:{port}", own.pem))


def test_an_api_that_does_not_know_the_token_refuses_it(port: int, own: Authority) -> None:
    server = Server(f"https://localhost:{port}", own.pem)
    with pytest.raises(RefusedError):
        server.get("/401", {})
    for status in (403, 404, 500, 595):
        with pytest.raises(UnansweredError) as error:
            server.get(f"/{status}", {})
        assert not isinstance(error.value, RefusedError)


def test_a_redirection_is_not_followed_since_the_token_would_go_there(
    port: int, own: Authority, asked: list[tuple[str, str]]
) -> None:
    assert refused(Server(f"https://localhost:{port}", own.pem), "/302") == "HTTP 302"
    assert len(asked) == 1


def test_what_another_program_answers_is_no_answer(port: int, own: Authority) -> None:
    server = Server(f"https://localhost:{port}", own.pem)
    assert refused(server, "/text") == "the answer is no JSON"
    assert "something else than Proxmox VE" in refused(server, "/nothing")
    with pytest.raises(UnansweredError, match="something else than Hetzner Cloud"):
        Hetzner(server, "a" * 64).networks()


def test_a_server_that_is_slow_not_there_or_no_name_is_no_answer(
    port: int, own: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(https, "SECONDS", 0.2)
    assert "no answer within" in refused(Server(f"https://localhost:{port}", own.pem), "/slow")
    assert "can not be reached" in refused(Server("https://localhost:1", own.pem))
    assert "can not be reached" in refused(Server("https://nowhere.invalid", own.pem))
