/** What a model should know before it reads the single tools. At most 1 KB: it is always read. */
export const INSTRUCTIONS = `Keeps one person's plants and their care. All data is that of the token's owner.

A plant has events (watered, fertilized, repotted, soil_change, note, journal, growth) and photos. Ids are UUIDs and come only from answers: call list_plants to find a plant by its name; it also says when each was lastWatered and had its lastEvent. list_events and create_event take the plant's id, update_event and delete_event the event's.

Log care with create_event; never write it into a plant's notes. To correct a wrong event use update_event, and do not log a second one. Photos are metadata of images that are already at the image host: create_photo first, then pass its id in photoIds or as primaryPhotoId.

Moments are RFC 3339 with an offset. Only what the person said goes into fields; leave out the rest. delete_plant is final: ask first.

A failed call answers isError with the reason, the field and what to call next.`;
