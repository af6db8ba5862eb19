"""Signing in: Home Assistant registers itself as a client of the server, and uses PKCE."""

import base64
import hashlib
import secrets
from typing import Any

from homeassistant.core import HomeAssistant
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.config_entry_oauth2_flow import LocalOAuth2Implementation

from .const import DOMAIN, NAME, SCOPE


class Server(LocalOAuth2Implementation):
    """The sign-in of one server."""

    def __init__(self, hass: HomeAssistant, client: dict[str, str]) -> None:
        """Takes what `register` returned."""
        # A client that people install has no secret.
        super().__init__(
            hass,
            DOMAIN,
            client["client_id"],
            None,  # type: ignore[arg-type]
            client["authorization_endpoint"],
            client["token_endpoint"],
        )
        self._verifier = secrets.token_urlsafe(64)

    @property
    def name(self) -> str:
        """What people see."""
        return NAME

    @property
    def extra_authorize_data(self) -> dict[str, str]:
        """What the page of consent needs besides."""
        digest = hashlib.sha256(self._verifier.encode()).digest()
        return {
            "scope": SCOPE,
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        }

    async def async_resolve_external_data(self, external_data: Any) -> dict[str, Any]:
        """Exchanges the code for tokens."""
        return await self._token_request(
            {
                "grant_type": "authorization_code",
                "code": external_data["code"],
                "redirect_uri": external_data["state"]["redirect_uri"],
                "code_verifier": self._verifier,
            }
        )

    async def revoke(self, token: dict[str, Any]) -> None:
        """Ends the grant of a token."""
        form = {"client_id": self.client_id, "token": token["refresh_token"]}
        url = self.token_url.removesuffix("/token") + "/revoke"
        await async_get_clientsession(self.hass).post(url, data=form)


async def register(hass: HomeAssistant, url: str) -> dict[str, str]:
    """Registers a client at the server of an address.

    Raises ClientError, or LookupError if people cannot sign in there.
    """
    session = async_get_clientsession(hass)
    async with session.get(f"{url}/.well-known/oauth-authorization-server") as answer:
        if answer.status == 404:
            raise LookupError
        answer.raise_for_status()
        metadata = await answer.json()
    endpoints = {name: metadata[name] for name in ("authorization_endpoint", "token_endpoint")}
    redirect = Server(hass, {"client_id": "", **endpoints}).redirect_uri
    client = {
        "client_name": "Home Assistant",
        "redirect_uris": [redirect],
        "token_endpoint_auth_method": "none",
    }
    async with session.post(metadata["registration_endpoint"], json=client) as answer:
        answer.raise_for_status()
        return {"client_id": (await answer.json())["client_id"], **endpoints}
