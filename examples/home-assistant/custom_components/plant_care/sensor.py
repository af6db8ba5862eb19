"""How much is due."""

from homeassistant.components.sensor import SensorEntity, SensorStateClass
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .const import DOMAIN
from .garden import GardenEntity


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback
) -> None:
    """Adds the sensor of an account."""
    async_add_entities([DueCount(hass.data[DOMAIN][entry.entry_id], entry, "due_count")])


class DueCount(GardenEntity, SensorEntity):
    """The number of plants' care that is due, and of what is late."""

    _attr_icon = "mdi:watering-can"
    _attr_state_class = SensorStateClass.MEASUREMENT

    @property
    def native_value(self) -> int:
        """How much is due today or was before."""
        return len(self.coordinator.due)

    @property
    def extra_state_attributes(self) -> dict[str, int]:
        """How much of it was due before today."""
        return {"overdue": sum(care["daysOverdue"] > 0 for care in self.coordinator.due)}
