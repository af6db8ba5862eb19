"""A calendar of the care to come, with overdue care on today."""

from datetime import date, datetime, timedelta

from homeassistant.components.calendar import CalendarEntity, CalendarEvent
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .const import DOMAIN
from .garden import Care, GardenEntity, uid_of

# The server looks no further ahead.
MAX_AHEAD = timedelta(days=366)


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback
) -> None:
    """Adds the calendar of an account."""
    async_add_entities([CareCalendar(hass.data[DOMAIN][entry.entry_id], entry, "calendar")])


class CareCalendar(GardenEntity, CalendarEntity):
    """Each time that care is due."""

    @property
    def event(self) -> CalendarEvent | None:
        """What is due first."""
        return next(map(self._event, self.coordinator.data), None)

    async def async_get_events(
        self, hass: HomeAssistant, start_date: datetime, end_date: datetime
    ) -> list[CalendarEvent]:
        """What is due from one moment to another, which is not included."""
        today = date.fromisoformat(self.coordinator.today)
        last = min((end_date - timedelta(microseconds=1)).date(), today + MAX_AHEAD)
        if last < today:
            return []
        events = map(self._event, await self.coordinator.until(last))
        return [event for event in events if event.start >= start_date.date()]

    def _event(self, care: Care) -> CalendarEvent:
        day = date.fromisoformat(max(care["dueOn"], self.coordinator.today))
        return CalendarEvent(
            uid=uid_of(care),
            summary=self.coordinator.title_of(care),
            location=care["location"],
            start=day,
            end=day + timedelta(days=1),
        )
