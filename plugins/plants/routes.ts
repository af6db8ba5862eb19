import Joi from 'joi';

import { type Operation, read, remove, write } from '../../src/plugins/operation';
import { plantLimitReached, plantNotFound } from './errors';
import { locations, plant, plantListQuery, summaryView } from './schema';
import { PLANT_QUOTA, type PlantService } from './service';

/** Operations on plants and locations (docs/specification.md, 4.1). */
export function routes(plants: PlantService): Operation[] {
  const { view } = plants;
  return [
    read({
      path: '/api/plants',
      summary: 'List all plants',
      access: { scope: 'plants:read' },
      query: plantListQuery,
      response: {
        schema: Joi.array().items(Joi.alternatives().try(view, summaryView)),
        description: 'The plants, oldest first',
      },
      tool: {
        name: 'list_plants',
        description:
          "List the person's plants, oldest first, in short: name, species, location, days between waterings and feedings, and when each was last watered (lastWatered) and last cared for in any way (lastEvent); null means never. Start here: it turns a plant's name (q) into its id. For all that is known of one plant use get_plant, of many view full.",
        defaults: { view: 'summary' },
      },
      handler: async ({ account, query }) => plants.list(account.id, query),
    }),
    write({
      method: 'POST',
      path: '/api/plants',
      summary: 'Add a plant',
      access: { scope: 'plants:write' },
      limit: 'plants',
      quota: PLANT_QUOTA,
      body: plant.createBody,
      response: { schema: view, description: 'The plant' },
      errors: [plantLimitReached, ...plants.photos.errors],
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
      access: { scope: 'plants:read' },
      params: { id: plantNotFound },
      response: { schema: view, description: 'The plant' },
      tool: {
        name: 'get_plant',
        description:
          'Read one plant by its id, with its primary photo and when it was last watered and cared for.',
      },
      handler: ({ scope, params }) => plants.get(scope, params.id),
    }),
    write({
      method: 'PATCH',
      path: '/api/plants/{id}',
      summary: 'Change a plant',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      body: plant.patchBody,
      response: { schema: view, description: 'The plant as it is now' },
      errors: plants.photos.errors,
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
      long: 'it may have very many photos',
      access: { scope: 'plants:write' },
      params: { id: plantNotFound },
      audit: 'plant.deleted',
      tool: {
        name: 'delete_plant',
        description:
          'Remove a plant and all of its events for good; its photos stay. This cannot be undone: ask the person first.',
      },
      handler: ({ tx, params }) => plants.delete(tx, params.id),
    }),
    read({
      path: '/api/locations',
      summary: 'List the locations in use',
      access: { scope: 'plants:read' },
      response: { schema: locations, description: 'Distinct locations, case-sensitive and sorted' },
      tool: {
        name: 'list_locations',
        description:
          'List the distinct locations of plants, sorted. Use it before create_plant or update_plant, so that a location is spelled as it is already.',
      },
      handler: ({ account }) => plants.locations(account.id),
    }),
  ];
}
