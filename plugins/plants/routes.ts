import Joi from 'joi';

import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { unknownPhoto } from '../photos';
import { plantLimitReached, plantNotFound } from './model';
import {
  archivePlant,
  locations,
  plant,
  plantListQuery,
  plantView,
  renamed,
  renameLocation,
  summaryView,
} from './schema';
import type { PlantService } from './service';

/** Operations on plants and locations (docs/specification.md, 4.1). */
export function routes(plants: PlantService): Operation[] {
  const list = read({
    path: '/api/plants',
    summary: 'List plants',
    description:
      'The active plants with all their fields, oldest first by default. `status` includes archived plants, `sort` and `order` set the order, `location` and `q` narrow the list. `GET /api/plant-summaries` is a tenth of the size.',
    operationId: 'listPlants',
    access: { scope: 'plants:read' },
    query: plantListQuery,
    response: {
      schema: Joi.array().items(plantView),
      description: 'The plants, in the requested order',
    },
    tool: { none: 'list_plants returns the same with view full' },
    handler: async ({ account, query }) => plants.list(account, query),
  });
  return [
    list,
    read({
      path: '/api/plant-summaries',
      summary: 'List plants in short form',
      description:
        'The fields that most lists show: names, location, frequencies and last care. It takes the parameters of `GET /api/plants`.',
      operationId: 'listPlantSummaries',
      access: { scope: 'plants:read' },
      query: plantListQuery,
      response: {
        schema: Joi.array().items(summaryView),
        description: 'The plants, in the requested order, without care attributes and photo',
      },
      tool: {
        name: 'list_plants',
        description:
          "List plants in short form, oldest first: days between waterings and feedings, lastWatered and lastEvent (null: never). Start here to turn a plant's name (q) into its id. For all fields use get_plant or, of many plants, view full.",
        full: list,
      },
      handler: async ({ account, query }) => plants.listInShort(account, query),
    }),
    write({
      method: 'POST',
      path: '/api/plants',
      summary: 'Add a plant',
      description: 'Only `name` is required. The tier limits the number of plants.',
      access: { scope: 'plants:write' },
      limit: 'plants',
      body: plant.createBody,
      response: { schema: plantView, description: 'The plant' },
      errors: [plantLimitReached, unknownPhoto],
      tool: {
        name: 'create_plant',
        description:
          'Add a plant. Leave out what is not known instead of guessing. To log care of an existing plant use create_event.',
      },
      handler: ({ tx, body }) => plants.create(tx, body),
    }),
    read({
      path: '/api/plants/{id}',
      summary: 'Read a plant',
      description:
        'The plant with its primary photo, if any, and its last watering and last event.',
      access: { scope: 'plants:read' },
      params: { id: plantNotFound },
      response: { schema: plantView, description: 'The plant' },
      tool: {
        name: 'get_plant',
        description: 'Read all fields of one plant, with its primary photo.',
      },
      handler: ({ tenant, params }) => plants.get(tenant, params.id),
    }),
    write({
      method: 'PATCH',
      path: '/api/plants/{id}',
      summary: 'Change a plant',
      description:
        'Changes only the fields that are sent. `null` clears a field, except `name`, `mossPoleNeeded` and `toxic`. `lastWatered` and `lastEvent` follow from the events of the plant.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      body: plant.patchBody,
      response: { schema: plantView, description: 'The changed plant' },
      errors: [unknownPhoto],
      tool: {
        name: 'update_plant',
        description:
          'Change the given fields of a plant; clear empties fields. To log care use create_event.',
      },
      handler: ({ tx, params, body }) => plants.update(tx, params.id, body),
    }),
    remove({
      path: '/api/plants/{id}',
      summary: 'Delete a plant and its events',
      description:
        'Deletes a plant and all its events for good. Its photos stay, with `plantId` null.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      audit: 'plant.deleted',
      tool: {
        name: 'delete_plant',
        description:
          'Delete a plant and its events for good; its photos stay. Cannot be undone: ask first. For a plant that died or left use archive_plant.',
      },
      handler: ({ tx, params }) => plants.delete(tx, params.id),
    }),
    write({
      method: 'POST',
      path: '/api/plants/{id}/archive',
      summary: 'Archive a plant',
      description:
        'For a plant that the person no longer has. It keeps its events and photos, needs no care and frees its place in the tier. Archiving it again changes the reason and, if sent, the day.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      body: archivePlant,
      response: { status: 200, schema: plantView, description: 'The archived plant' },
      errors: [plantLimitReached],
      tool: {
        name: 'archive_plant',
        description:
          'Archive a plant that died, was given away or sold: it keeps its history and needs no care. unarchive_plant undoes this.',
      },
      handler: ({ tx, params, body }) => plants.archive(tx, params.id, body),
    }),
    write({
      method: 'POST',
      path: '/api/plants/{id}/unarchive',
      summary: 'Unarchive a plant',
      description: 'Needs a free place in the tier. An active plant stays as it is.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      response: { status: 200, schema: plantView, description: 'The active plant' },
      errors: [plantLimitReached],
      tool: {
        name: 'unarchive_plant',
        description: 'Make an archived plant active again.',
      },
      handler: ({ tx, params }) => plants.unarchive(tx, params.id),
    }),
    write({
      method: 'POST',
      path: '/api/locations/rename',
      summary: 'Rename a location',
      description:
        'Moves all plants from `from`, in any spelling, to `to`. If `to` is a location already, the two are merged.',
      access: { scope: 'plants:write' },
      body: renameLocation,
      notConditional: 'the response is not a record',
      response: {
        status: 200,
        schema: renamed,
        description: 'The number of active plants that moved',
      },
      tool: {
        name: 'rename_location',
        description:
          'Rename a location, or merge it into another one: all its plants move. plants 0: no active plant was there.',
      },
      handler: ({ tx, body }) => plants.places.rename(tx, body),
    }),
    read({
      path: '/api/locations',
      summary: 'List locations',
      description:
        'The locations of active plants, each once. Spellings that differ only in white space or in the Unicode normal form are the same location; case and accents count.',
      access: { scope: 'plants:read' },
      response: {
        schema: locations,
        description: 'The locations, sorted, each as its oldest active plant spells it',
      },
      tool: {
        name: 'list_locations',
        description:
          'List the locations of plants. Use their spelling in create_plant and update_plant: case and accents count.',
      },
      handler: ({ account }) => plants.places.list({ userId: account.id }),
    }),
  ];
}
