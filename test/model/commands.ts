import fc from 'fast-check';

import { careCommands } from './care-commands';
import { command, type Command } from './command';
import { eventCommands } from './event-commands';
import { invalidCommand } from './invalid';
import { deletePlant, photoCommands, plantCommands } from './plant-commands';
import { expectInsights } from './read-insights';

const [createPlant, ...onPlants] = plantCommands;
const [createPhoto, ...onPhotos] = photoCommands;
const [createEvent, updateEvent, ...onEvents] = eventCommands;

const weighted = [
  { weight: 14, of: [createEvent] },
  { weight: 6, of: [updateEvent] },
  { weight: 4, of: [createPlant, createPhoto] },
  { weight: 2, of: [...onPlants, ...onPhotos, ...onEvents, invalidCommand] },
  { weight: 3, of: careCommands },
  { weight: 1, of: [deletePlant, command('read insights', fc.constant(null), expectInsights)] },
];

/** Any command; those that create something are more frequent, so that there are records. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  ...weighted.flatMap(({ weight, of }) => of.map((arbitrary) => ({ weight, arbitrary }))),
);
