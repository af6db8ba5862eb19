"""The list of due care. A tick logs it, and taking the tick away deletes what was logged."""

from datetime import date

from homeassistant.components.todo import (
    TodoItem,
    TodoItemStatus,
    TodoListEntity,
    TodoListEntityFeature,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .const import DOMAIN
from .garden import Care, GardenEntity, uid_of


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddEntitiesCallback
) -> None:
    """Adds the list of an account."""
    async_add_entities([DueCare(hass.data[DOMAIN][entry.entry_id], entry, "due")])


class DueCare(GardenEntity, TodoListEntity):
    """What is due, and what was ticked off today."""

    _attr_supported_features = TodoListEntityFeature.UPDATE_TODO_ITEM

    @property
    def todo_items(self) -> list[TodoItem]:
        """All items, the longest overdue first."""
        due = [self._item(care, TodoItemStatus.NEEDS_ACTION) for care in self.coordinator.due]
        open_ids = {item.uid for item in due}
        done = [
            self._item(care, TodoItemStatus.COMPLETED)
            for uid, (care, *_) in self.coordinator.done.items()
            # It may be due again, because it was undone elsewhere.
            if uid not in open_ids
        ]
        return due + done

    def _item(self, care: Care, status: TodoItemStatus) -> TodoItem:
        return TodoItem(
            uid=uid_of(care),
            summary=self.coordinator.title_of(care),
            status=status,
            due=date.fromisoformat(care["dueOn"]),
            description=care["location"],
        )

    async def async_update_todo_item(self, item: TodoItem) -> None:
        """Logs care, or undoes it."""
        shown = next((each for each in self.todo_items if each.uid == item.uid), None)
        if shown is None or shown.summary != item.summary:
            raise ServiceValidationError("Care can only be ticked off here.")
        if item.status == TodoItemStatus.COMPLETED:
            await self.coordinator.complete(shown.uid)
        else:
            await self.coordinator.undo(shown.uid)
