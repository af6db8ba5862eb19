"""The reminder by which the server tells of changes, to a webhook of Home Assistant."""

import base64
from collections import deque
import hashlib
import hmac
from http import HTTPStatus
import logging
import time
from typing import Any

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
        await unsubscribe(entry, api)
    events = ["care.due", "account.changed"]
    body = {"channel": "url", "url": url, "events": events}
    created = await api.call("POST", PATH, body=body)
    reminder = {"id": created["id"], "secret": created["secret"], "url": url}
    hass.config_entries.async_update_entry(entry, data={**entry.data, "reminder": reminder})


async def unsubscribe(entry: ConfigEntry, api: Api) -> None:
    """Deletes the reminder."""
    if reminder := entry.data.get("reminder"):
        await api.call("DELETE", f"{PATH}/{reminder['id']}")


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
