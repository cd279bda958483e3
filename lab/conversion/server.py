"""The stand-in as a server on loopback, and what makes the API server ask it."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from lab.cluster.lifecycle import ClusterError
from lab.conversion.convert import DEFINITIONS, GROUP, ConversionError, convert

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.cluster import Cluster

Body = dict[str, Any]

LOOPBACK = "127.0.0.1"

_DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}"
_OK = 200
_WAIT_SECONDS, _POLL_SECONDS = 60.0, 0.1


@dataclass(frozen=True)
class Webhook:
    """Where it answers, and the PEM of the CA that its certificate is of."""

    url: str
    ca: bytes


def webhook_at(port: int, ca: bytes) -> Webhook:
    """Give the address of the stand-in that listens on a port of loopback."""
    return Webhook(f"https://{LOOPBACK}:{port}/convert", ca)


def listening(state: Path, port: int = 0) -> ThreadingHTTPServer:
    """Give a server that listens, on any free port without `port`, and serves as soon as it is told to."""
    data = state / "apiserver"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(data / "apiserver.crt", data / "apiserver.key")
    server = ThreadingHTTPServer((LOOPBACK, port), _Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


@contextmanager
def serving(state: Path, ca: bytes) -> Iterator[Webhook]:
    """Serve in a thread of this process, with the certificate of the API server whose state folder this is.

    That certificate is for loopback, which is where both are; so the lab needs no tool to make another.
    """
    server = listening(state)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield webhook_at(server.server_address[1], ca)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def install(cluster: Cluster, webhook: Webhook) -> None:
    """Let the API server convert these kinds by the webhook; ClusterError where it does not in a minute."""
    conversion = {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"url": webhook.url, "caBundle": base64.b64encode(webhook.ca).decode()},
            "conversionReviewVersions": ["v1"],
        },
    }
    for name in DEFINITIONS:
        path = _DEFINITION.format(name)
        status, said = cluster.request(
            "PATCH", path, {"spec": {"conversion": conversion}}, content_type="application/merge-patch+json"
        )
        if status != _OK:
            message = f"{name}: {said}"
            raise ClusterError(message)
    _wait(cluster)


def _wait(cluster: Cluster) -> None:
    """Wait until a template comes back with what only the webhook writes into it: the node as one of a list.

    Its bridge is one that no zone has, so that policies which are in force let it pass.
    """
    network = {"default": {"bridge": "vmbr4094", "vlan": 1}}
    probe = {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "ProxmoxMachineTemplate",
        "metadata": {"name": "conversion-probe"},
        "spec": {
            "template": {"spec": {"target": "probe", "sourceNode": "probe", "templateID": 100, "network": network}}
        },
    }
    path = f"/apis/{GROUP}/v1alpha1/namespaces/default/proxmoxmachinetemplates?dryRun=All"
    end = time.monotonic() + _WAIT_SECONDS
    while True:
        said = cluster.request("POST", path, probe)[1]
        if "allowedNodes" in json.dumps(said):
            return
        if time.monotonic() > end:
            message = f"the API server does not use the conversion webhook: {said}"
            raise ClusterError(message)
        time.sleep(_POLL_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes: the second would wait for 40 ms

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({**review, "request": None, "response": _response(review["request"])}).encode()
        self.send_response(_OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:  # what it converts is nobody's business
        pass


def _response(request: Body) -> Body:
    try:
        converted = [convert(each, request["desiredAPIVersion"]) for each in request["objects"]]
    except ConversionError as error:
        return {"uid": request["uid"], "result": {"status": "Failure", "message": str(error)}}
    return {"uid": request["uid"], "convertedObjects": converted, "result": {"status": "Success"}}
