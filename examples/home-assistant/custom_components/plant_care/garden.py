"""What is due in a garden, and the entities that show it."""

from datetime import date, timedelta
import inspect
import logging
from typing import Any, NamedTuple

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.device_registry import DeviceEntryType, DeviceInfo
from homeassistant.helpers.update_coordinator import (
    CoordinatorEntity,
    DataUpdateCoordinator,
    UpdateFailed,
)
from homeassistant.util import dt as dt_util

from .api import Api, CallFailed
from .const import DOMAIN, NAME

# The server tells of changes. This is for when it cannot reach Home Assistant, and for a new day.
INTERVAL = timedelta(minutes=30)
# How far ahead the next care is looked for.
AHEAD = timedelta(days=31)

TASKS = {
    "en": {
        "watered": "Water {}",
        "fertilized": "Feed {}",
        "repotted": "Repot {}",
        "soil_change": "Change the soil of {}",
        "other": "Look after {}",
    },
    "fr": {
        "watered": "Arroser {}",
        "fertilized": "Mettre de l’engrais à {}",
        "repotted": "Rempoter {}",
        "soil_change": "Changer la terre de {}",
        "other": "S’occuper de {}",
    },
}

# An item of `GET /api/care`.
Care = dict[str, Any]


class Done(NamedTuple):
    """Care that was ticked off here."""

    care: Care
    day: str
    event_ids: list[str]


class Garden(DataUpdateCoordinator[list[Care]]):
    """The care of the next days, the earliest first."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, api: Api) -> None:
        """Asks nothing yet."""
        # Home Assistant of before 2024.8 finds the entry by itself.
        parameters = inspect.signature(DataUpdateCoordinator.__init__).parameters
        of_entry: Any = {"config_entry": entry} if "config_entry" in parameters else {}
        super().__init__(
            hass, logging.getLogger(__name__), name=NAME, update_interval=INTERVAL, **of_entry
        )
        self.api = api
        # The day in the time zone of the account.
        self.today = ""
        # What was ticked off today, to be unticked; a restart forgets it.
        self.done: dict[str, Done] = {}

    @property
    def due(self) -> list[Care]:
        """What is due today or was before."""
        return [care for care in self.data if care["daysOverdue"] >= 0]

    async def until(self, last: date) -> list[Care]:
        """All care up to a day."""
        answer = await self.api.call("GET", "/api/care", query={"to": last.isoformat()})
        self.today = answer["today"]
        return answer["items"]

    async def _async_update_data(self) -> list[Care]:
        try:
            items = await self.until(dt_util.utcnow().date() + AHEAD)
        except CallFailed as error:
            raise UpdateFailed(str(error)) from error
        self.done = {uid: done for uid, done in self.done.items() if done.day == self.today}
        return items

    async def complete(self, uid: str) -> None:
        """Logs care that is due."""
        care = next((care for care in self.due if uid_of(care) == uid), None)
        if care is not None:
            what = "type" if care["scheduleId"] is None else "scheduleId"
            body = {key: care[key] for key in ("plantId", "dueOn", what)}
            answer = await self.api.call("POST", "/api/care/done", body=body)
            self.done[uid] = Done(care, self.today, [event["id"] for event in answer["items"]])
        await self.async_refresh()

    async def undo(self, uid: str) -> None:
        """Deletes what `complete` logged."""
        if done := self.done.get(uid):
            body = {"eventIds": done.event_ids}
            await self.api.call("POST", "/api/events/delete", body=body)
            del self.done[uid]
        await self.async_refresh()

    def title_of(self, care: Care) -> str:
        """What to do, such as Water Fern."""
        if care["label"]:
            return f"{care['plantName']}: {care['label']}"
        tasks = TASKS["fr" if self.hass.config.language.startswith("fr") else "en"]
        return tasks[care["care"]].format(care["plantName"])


def uid_of(care: Care) -> str:
    """Names an occurrence of care."""
    return f"{care['scheduleId'] or care['plantId'] + ' ' + care['type']} {care['dueOn']}"


class GardenEntity(CoordinatorEntity[Garden]):
    """An entity of an account."""

    _attr_has_entity_name = True

    def __init__(self, garden: Garden, entry: ConfigEntry, key: str) -> None:
        """Names it by a key of the translations."""
        super().__init__(garden)
        self._attr_translation_key = key
        self._attr_unique_id = f"{entry.entry_id} {key}"
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, entry.entry_id)},
            name=NAME,
            entry_type=DeviceEntryType.SERVICE,
            configuration_url=f"{garden.api.url}/garden",
        )
