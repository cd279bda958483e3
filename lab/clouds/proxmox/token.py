"""API tokens of Proxmox VE: `USER@REALM!TOKENID=UUID`."""

import re
from typing import NamedTuple

from lab.clouds.errors import CloudError

_TOKEN = re.compile(
    r"^(?P<user>[^\s!=@]+@[^\s!=@]+)!(?P<name>[^\s!=]+)=(?P<secret>[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$"
)


class ApiToken(NamedTuple):
    """A token's parts."""

    user: str
    name: str
    secret: str

    @property
    def identity(self) -> str:
        """The token's id, `USER@REALM!TOKENID`."""
        return f"{self.user}!{self.name}"


def parse_token(text: str) -> ApiToken:
    """Return a token's parts; raises CloudError as the real plugin does when it is configured."""
    match = _TOKEN.match(text)
    if match is None:
        message = "the API token must be in the format 'USER@REALM!TOKENID=UUID'"
        raise CloudError(message)
    return ApiToken(match["user"], match["name"], match["secret"])
