import Joi from 'joi';

import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { unknownPhoto } from '../photos';
import { plantLimitReached, plantNotFound } from './errors';
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
    summary: 'List all plants',
    description:
      'The active plants of the account with all that is known of them, oldest first unless `sort` and `order` say otherwise; `status` has archived ones be listed, `location` and `q` narrow them. For screens that show many, `GET /api/plant-summaries` is a tenth as long.',
    operationId: 'listPlants',
    access: { scope: 'plants:read' },
    query: plantListQuery,
    response: {
      schema: Joi.array().items(plantView),
      description: 'The plants in the order asked for',
    },
    tool: { none: 'list_plants answers it where it is called with view full' },
    handler: async ({ account, query }) => plants.list(account, query),
  });
  return [
    list,
    read({
      path: '/api/plant-summaries',
      summary: 'List all plants in short',
      description:
        'What most lists show of the plants: names, location, how often they need care, and when they last had it. Takes what `GET /api/plants` takes.',
      operationId: 'listPlantSummaries',
      access: { scope: 'plants:read' },
      query: plantListQuery,
      response: {
        schema: Joi.array().items(summaryView),
        description: 'The plants in the order asked for, without care attributes and photo',
      },
      tool: {
        name: 'list_plants',
        description:
          "List the person's active plants (status: also archived ones), oldest first, in short: name, species, location, days between waterings and feedings, and when each was last watered (lastWatered) and last cared for in any way (lastEvent); null means never. Start here: it turns a plant's name (q) into its id. For all that is known of one plant use get_plant, of many view full.",
        full: list,
      },
      handler: async ({ account, query }) => plants.listInShort(account, query),
    }),
    write({
      method: 'POST',
      path: '/api/plants',
      summary: 'Add a plant',
      description: 'Only `name` is required. The tier limits how many plants an account may have.',
      access: { scope: 'plants:write' },
      limit: 'plants',
      body: plant.createBody,
      response: { schema: plantView, description: 'The plant' },
      errors: [plantLimitReached, unknownPhoto],
      tool: {
        name: 'create_plant',
        description:
          'Add a plant. Only name is required; leave out what is not known instead of guessing. mossPoleNeeded and toxic are false unless given. The tier limits how many plants there may be. To log care of a plant that is there already use create_event.',
      },
      handler: ({ tx, body }) => plants.create(tx, body),
    }),
    read({
      path: '/api/plants/{id}',
      summary: 'Read a plant',
      description:
        'With its primary photo, where it has one, and when it was last watered and cared for.',
      access: { scope: 'plants:read' },
      params: { id: plantNotFound },
      response: { schema: plantView, description: 'The plant' },
      tool: {
        name: 'get_plant',
        description:
          'Read one plant by its id, with its primary photo and when it was last watered and cared for.',
      },
      handler: ({ tenant, params }) => plants.get(tenant, params.id),
    }),
    write({
      method: 'PATCH',
      path: '/api/plants/{id}',
      summary: 'Change a plant',
      description:
        'Changes the fields that are sent and leaves the others. `null` clears a field, except `name`, `mossPoleNeeded` and `toxic`. `lastWatered` and `lastEvent` follow from the events of the plant.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      body: plant.patchBody,
      response: { schema: plantView, description: 'The plant as it is now' },
      errors: [unknownPhoto],
      tool: {
        name: 'update_plant',
        description:
          'Change the given fields of a plant and leave the others; clear names those to empty. Not for care that was done: to say that a plant was watered use create_event.',
      },
      handler: ({ tx, params, body }) => plants.update(tx, params.id, body),
    }),
    remove({
      path: '/api/plants/{id}',
      summary: 'Remove a plant and its events; its photos stay, with plantId null',
      description:
        'Removes a plant and all of its events for good. Its photos stay, with `plantId` null.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      audit: 'plant.deleted',
      tool: {
        name: 'delete_plant',
        description:
          'Remove a plant and all of its events for good; its photos stay. This cannot be undone: ask the person first. One that died or left is for archive_plant.',
      },
      handler: ({ tx, params }) => plants.delete(tx, params.id),
    }),
    write({
      method: 'POST',
      path: '/api/plants/{id}/archive',
      summary: 'Archive a plant that the person no longer has',
      description:
        'It keeps its events and photos, is due for nothing, and frees its place in the tier. One that is archived gets the reason and, where it is sent, the day.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      body: archivePlant,
      response: { status: 200, schema: plantView, description: 'The plant, archived' },
      errors: [plantLimitReached],
      tool: {
        name: 'archive_plant',
        description:
          'Archive a plant that died or that the person gave away or sold: it stays with its history, and is due for nothing. unarchive_plant takes that back.',
      },
      handler: ({ tx, params, body }) => plants.archive(tx, params.id, body),
    }),
    write({
      method: 'POST',
      path: '/api/plants/{id}/unarchive',
      summary: 'Take a plant out of the archive',
      description: 'It needs a free place in the tier. One that is active stays as it is.',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      response: { status: 200, schema: plantView, description: 'The plant, active' },
      errors: [plantLimitReached],
      tool: {
        name: 'unarchive_plant',
        description: 'Have an archived plant be one of the active plants again.',
      },
      handler: ({ tx, params }) => plants.unarchive(tx, params.id),
    }),
    write({
      method: 'POST',
      path: '/api/locations/rename',
      summary: 'Rename a location',
      description:
        'All plants that stand at `from`, in whichever spelling, stand at `to` then. Where `to` is a location already, both become one.',
      access: { scope: 'plants:write' },
      body: renameLocation,
      notConditional: 'its answer is no record that is read again',
      response: { status: 200, schema: renamed, description: 'How many active plants stood there' },
      tool: {
        name: 'rename_location',
        description:
          'Give the location of plants another name, or merge it into one that there is: all of its plants move. plants 0: nothing stands there.',
      },
      handler: ({ tx, body }) => plants.places.rename(tx, body),
    }),
    read({
      path: '/api/locations',
      summary: 'List the locations in use',
      description:
        'The locations at which active plants stand, each once. Spellings that differ in white space at the ends, in its amount or in the normal form of letters are one location; case and accents tell locations apart.',
      access: { scope: 'plants:read' },
      response: {
        schema: locations,
        description: 'Each once, as its oldest plant spells it, sorted',
      },
      tool: {
        name: 'list_locations',
        description:
          'List the locations of plants, each once, sorted. Use it before create_plant or update_plant: case and accents tell locations apart.',
      },
      handler: ({ account }) => plants.places.list({ userId: account.id }),
    }),
  ];
}
