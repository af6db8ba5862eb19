"""Plants that need care, from a server of the Plant care API."""

from contextlib import suppress

from aiohttp import ClientError

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError

from .api import Api
from .const import DOMAIN
from .garden import Garden
from .reminder import listen, unsubscribe

PLATFORMS = [Platform.CALENDAR, Platform.SENSOR, Platform.TODO]


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Shows the garden of an account."""
    garden = Garden(hass, entry, Api(hass, entry))
    await garden.async_config_entry_first_refresh()
    hass.data.setdefault(DOMAIN, {})[entry.entry_id] = garden
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    await listen(hass, entry, garden)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Stops."""
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


async def async_remove_entry(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Leaves nothing at the server, if it can be reached."""
    api = Api(hass, entry)
    with suppress(HomeAssistantError):
        await unsubscribe(entry, api)
    with suppress(ClientError, TimeoutError):
        await api.server.revoke(entry.data["token"])
