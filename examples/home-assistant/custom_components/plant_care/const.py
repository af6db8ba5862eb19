"""Names."""

DOMAIN = "plant_care"
NAME = "Plant care"
# To see what is due, to be told of changes, and to log care.
SCOPE = "plants:read plants:write events:write"
# An event of Home Assistant: the reminder of the day, for automations.
EVENT_DUE = "plant_care_due"
