"""The reminder by which the server tells of changes, to a webhook of Home Assistant."""

import base64
from collections import deque
import hashlib
import hmac
from http import HTTPStatus
import logging
import re
import time
from typing import Any
from uuid import uuid4

from aiohttp.web import Request, Response

from homeassistant.components import webhook
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.network import NoURLAvailableError

from .api import Api, CallFailed
from .const import DOMAIN, EVENT_DUE, NAME
from .garden import Garden

PATH = "/api/account/reminders"
TOLERANCE_SECONDS = 300
# How often a reminder is made if each answer is lost.
MAX_TRIES = 3
# After these nothing was made.
REFUSED = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LOGGER = logging.getLogger(__name__)


async def listen(hass: HomeAssistant, entry: ConfigEntry, garden: Garden) -> None:
    """Has the server tell of changes until the entry is unloaded."""
    seen: deque[str] = deque(maxlen=100)

    async def receive(hass: HomeAssistant, webhook_id: str, request: Request) -> Response:
        body = await request.read()
        reminder = entry.data.get("reminder")
        if not reminder or not is_genuine(reminder["secret"], request, body):
            return Response(status=HTTPStatus.UNAUTHORIZED)
        message = await request.json()
        message_id = request.headers["webhook-id"]
        if message["type"] == "care.due" and message_id not in seen:
            hass.bus.async_fire(EVENT_DUE, message["data"])
        seen.append(message_id)
        # The server need not wait for the answers to our questions.
        hass.async_create_task(garden.async_request_refresh())
        return Response(status=HTTPStatus.NO_CONTENT)

    if "webhook_id" not in entry.data:
        new = {"webhook_id": webhook.async_generate_id()}
        hass.config_entries.async_update_entry(entry, data={**entry.data, **new})
    webhook_id = entry.data["webhook_id"]
    webhook.async_register(hass, DOMAIN, NAME, webhook_id, receive, allowed_methods=["POST"])
    entry.async_on_unload(lambda: webhook.async_unregister(hass, webhook_id))
    try:
        await _subscribe(hass, entry, garden.api, webhook.async_generate_url(hass, webhook_id))
    except (CallFailed, NoURLAvailableError) as error:
        LOGGER.warning("Changes are seen within half an hour only: %s", error)


async def _subscribe(hass: HomeAssistant, entry: ConfigEntry, api: Api, url: str) -> None:
    """Creates the reminder, or has it sent again."""
    known: dict[str, Any] = entry.data.get("reminder", {})
    reminders = (await api.call("GET", PATH))["items"]
    kept = next((each for each in reminders if each["id"] == known.get("id")), None)
    if kept and known["url"] == url:
        if not kept["active"]:
            await api.call("PATCH", f"{PATH}/{kept['id']}", body={"active": True})
        return
    if kept:
        await _delete(api, kept["id"])
    body = {"channel": "url", "url": url, "events": ["care.due", "account.changed"]}
    for _ in range(MAX_TRIES):
        # Kept until it is answered: the same key finds what was made, after a restart too.
        asked = entry.data.get("asked") or {"key": uuid4().hex, "body": body}
        _keep(hass, entry, asked=asked)
        try:
            made = await _make(api, asked)
        except CallFailed as error:
            if error.status in REFUSED:
                _keep(hass, entry, asked=None)
            raise
        if "secret" in made and asked["body"] == body:
            reminder = {"id": made["id"], "secret": made["secret"], "url": url}
            _keep(hass, entry, asked=None, reminder=reminder)
            return
        await _delete(api, made["id"])
        _keep(hass, entry, asked=None)
    raise CallFailed("The answers of the server are lost.")


async def _make(api: Api, asked: dict[str, Any]) -> dict[str, Any]:
    """Creates a reminder; without its secret, which is told once, if it was created before."""
    try:
        return await api.call("POST", PATH, body=asked["body"], key=asked["key"])
    except CallFailed as error:
        made = UUID.search(str(error)) if error.status == HTTPStatus.CONFLICT else None
        if made is None:
            raise
        return {"id": made[0]}


def _keep(hass: HomeAssistant, entry: ConfigEntry, **changes: Any) -> None:
    """Stores what is to be known after a restart."""
    hass.config_entries.async_update_entry(entry, data={**entry.data, **changes})


async def _delete(api: Api, reminder_id: str) -> None:
    """Deletes a reminder, if it is there."""
    try:
        await api.call("DELETE", f"{PATH}/{reminder_id}")
    except CallFailed as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


async def unsubscribe(entry: ConfigEntry, api: Api) -> None:
    """Deletes the reminder, and one of which the answer was lost."""
    if reminder := entry.data.get("reminder"):
        await _delete(api, reminder["id"])
    if asked := entry.data.get("asked"):
        await _delete(api, (await _make(api, asked))["id"])


def is_genuine(secret: str, request: Request, body: bytes) -> bool:
    """Whether a message is recent and signed with the secret (Standard Webhooks)."""
    sent_at = request.headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message_id = request.headers.get("webhook-id", "")
    signed = f"{message_id}.{sent_at}.".encode(errors="replace") + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    given = request.headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), each.encode(errors="replace")) for each in given)
