"""Set-up: the address of the server, then its own page to sign in."""

from collections.abc import Mapping
import logging
from typing import Any

from aiohttp import ClientError, ClientResponseError
import voluptuous as vol
from yarl import URL

from homeassistant.config_entries import ConfigEntry
from homeassistant.helpers.config_entry_oauth2_flow import (
    AbstractOAuth2FlowHandler,
    async_oauth2_request,
)

from .const import DOMAIN
from .oauth import Server, register


class PlantCareFlow(AbstractOAuth2FlowHandler, domain=DOMAIN):
    """Adds an account, or signs it in again."""

    DOMAIN = DOMAIN
    VERSION = 1

    def __init__(self) -> None:
        """Begins without an address."""
        super().__init__()
        self._kept: dict[str, Any] = {}
        self._old: ConfigEntry | None = None

    @property
    def logger(self) -> logging.Logger:
        """Where the base class logs."""
        return logging.getLogger(__name__)

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> Any:
        """Asks for the address."""
        errors = {}
        if user_input is not None:
            try:
                url = str(URL(user_input["url"].strip()).origin())
                self._kept = {"url": url, "client": await register(self.hass, url)}
            except ValueError:
                errors["url"] = "invalid_url"
            except (LookupError, ClientResponseError):
                errors["url"] = "no_sign_in"
            except (ClientError, TimeoutError):
                errors["url"] = "cannot_connect"
            else:
                self.flow_impl = Server(self.hass, self._kept["client"])
                return await self.async_step_auth()
        shown = (user_input or {}).get("url", "https://")
        schema = vol.Schema({vol.Required("url", default=shown): str})
        return self.async_show_form(step_id="user", data_schema=schema, errors=errors)

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> Any:
        """Begins to sign an account in again."""
        self._old = self.hass.config_entries.async_get_entry(self.context["entry_id"])
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(self, user_input: dict[str, Any] | None = None) -> Any:
        """Tells why."""
        if user_input is None or self._old is None:
            return self.async_show_form(step_id="reauth_confirm", data_schema=vol.Schema({}))
        return await self.async_step_user({"url": self._old.data["url"]})

    async def async_oauth_create_entry(self, data: dict[str, Any]) -> Any:
        """Stores the account with its tokens."""
        url = self._kept["url"]
        response = await async_oauth2_request(
            self.hass, data["token"], "GET", f"{url}/api/account"
        )
        response.raise_for_status()
        user_id = (await response.json())["userId"]
        await self.async_set_unique_id(f"{url} {user_id}")
        if self._old is None:
            self._abort_if_unique_id_configured()
            return self.async_create_entry(title=user_id, data={**data, **self._kept})
        if self._old.unique_id != self.unique_id:
            return self.async_abort(reason="wrong_account")
        self.hass.config_entries.async_update_entry(
            self._old, data={**self._old.data, **data, **self._kept}
        )
        await self.hass.config_entries.async_reload(self._old.entry_id)
        return self.async_abort(reason="reauth_successful")
