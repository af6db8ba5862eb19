"""Calls of the API for the account that signed in."""

import asyncio
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from aiohttp import ClientError, ClientResponseError, ClientTimeout

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryAuthFailed, HomeAssistantError
from homeassistant.helpers.config_entry_oauth2_flow import OAuth2Session

from .oauth import Server

TIMEOUT = ClientTimeout(total=30)
MAX_WAIT_SECONDS = 10


class CallFailed(HomeAssistantError):
    """A call that was refused, or got no answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        """Tells why; there is no status if there was no answer."""
        super().__init__(message)
        self.status = status


class Api:
    """The API of one server, as one account sees it."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry) -> None:
        """Uses the tokens in an entry, which it renews there."""
        self.url: str = entry.data["url"]
        self.server = Server(hass, entry.data["client"])
        self._session = OAuth2Session(hass, entry, self.server)
        # A refresh token works once, so one refresh runs at a time.
        self._renewing = asyncio.Lock()

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> Any:
        """Returns the JSON of a response; what may pass is tried twice, with the same key.

        Raises CallFailed, or ConfigEntryAuthFailed if the person has to sign in again.
        """
        headers = {"Idempotency-Key": key or uuid4().hex} if method == "POST" else {}
        given = {"params": query, "json": body, "headers": headers, "timeout": TIMEOUT}
        for is_last in (False, True):
            try:
                status, seconds, answer = await self._once(method, path, given)
            except (ClientError, TimeoutError) as error:
                if is_last:
                    raise CallFailed(f"{self.url} does not answer.") from error
                continue
            if status == HTTPStatus.UNAUTHORIZED:
                raise ConfigEntryAuthFailed
            if status < HTTPStatus.BAD_REQUEST:
                return answer
            if status not in (429, 503) or is_last or seconds > MAX_WAIT_SECONDS:
                message = (answer or {}).get("error", f"The server says {status}.")
                raise CallFailed(message, status)
            await asyncio.sleep(seconds)

    async def _once(
        self, method: str, path: str, given: dict[str, Any]
    ) -> tuple[int, int, dict[str, Any] | None]:
        """The status, how long to wait before a retry, and the JSON."""
        try:
            async with self._renewing:
                await self._session.async_ensure_token_valid()
        except ClientResponseError as error:
            if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                raise ConfigEntryAuthFailed from error
            raise
        response = await self._session.async_request(method, f"{self.url}{path}", **given)
        async with response:
            is_json = response.content_type == "application/json"
            seconds = int(response.headers.get("Retry-After", "1"))
            return response.status, seconds, await response.json() if is_json else None
