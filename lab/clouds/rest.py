"""The simulated APIs over HTTP on loopback, for what asks them without a plugin."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from lab.clouds.errors import CloudError
from lab.clouds.hcloud import rest as hcloud_rest
from lab.clouds.proxmox import rest as proxmox_rest
from lab.clouds.state import HCLOUD

_STATUS = re.compile(r"(?:^|HTTP |: )([45][0-9]{2}) ")


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Answer for all clouds of a state folder as long as the block lasts; yields the base URL.

    A cloud stands below the base by what its endpoint is called there: `<base>/hcloud/v1/…`, and for a Proxmox VE
    `<base>/https%3A%2F%2Fpve.lab.example%3A8006/api2/json/…`.
    """

    class Handler(_Handler):
        clouds = folder

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    clouds: Path
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer one read."""
        url = urlsplit(self.path)
        _, place, *rest = url.path.split("/")
        endpoint, path = unquote(place), "/" + "/".join(unquote(part) for part in rest)
        query = dict(parse_qsl(url.query))
        authorization = self.headers.get("Authorization", "")
        try:
            if endpoint == HCLOUD:
                self._send(200, hcloud_rest.answer(self.clouds, path, query, authorization))
            else:
                self._send(200, proxmox_rest.answer(self.clouds, endpoint, path, query, authorization))
        except CloudError as error:
            found = _STATUS.search(str(error))
            self._send(int(found[1]) if found else 500, {"data": None, "message": str(error)})

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing: the output is the operation's."""
