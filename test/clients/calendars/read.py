"""Prints the events of an iCalendar file as JSON, in its order."""

import json
import sys

from icalendar import Calendar


def text(event, name):
    value = event.get(name)
    return None if value is None else str(value)


with open(sys.argv[1], "rb") as file:
    calendar = Calendar.from_ical(file.read())
events = calendar.walk("VEVENT")
assert not any(part.errors for part in [calendar, *events])
print(
    json.dumps(
        [
            {
                "uid": text(event, "UID"),
                "title": text(event, "SUMMARY"),
                "location": text(event, "LOCATION"),
                "day": event.decoded("DTSTART").isoformat(),
            }
            for event in events
        ]
    )
)
