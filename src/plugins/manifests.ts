import Joi from 'joi';

import { hostModels } from '../data/model/host-models';
import { collectionOf } from '../data/model/models';
import { hostErrors } from '../core/errors';
import { AUTH_FAILURES, HOST_BUDGETS, hostSettings } from '../core/settings/host-settings';
import { type Plugin, settingsOf } from './plugin';
import { JSON_VALIDATION } from '../core/text/json';

export const name = Joi.string().pattern(/^[a-z][a-z0-9-]*$/, 'a lower-case name');
export const snakeName = Joi.string().pattern(/^[a-z][a-z0-9_]*$/, 'a snake_case name');
export const camelName = Joi.string().pattern(/^[a-z][A-Za-z0-9]*$/, 'a camelCase name');
export const sentence = Joi.string().min(3);

/** The message of the first fault in a value, if any. */
export function faultOf(schema: Joi.Schema, value: unknown): string | undefined {
  return schema.validate(value, JSON_VALIDATION).error?.message;
}

/** Names by kind. */
export type Claims = Readonly<Record<string, readonly string[] | undefined>>;

/** Returns a function that adds a fault for each name of a kind that two places claim. */
export function uniqueness(faults: string[]) {
  const owners = new Map<string, string>();
  return (place: string, claims: Claims): void => {
    for (const [kind, names = []] of Object.entries(claims)) {
      for (const key of names.map((each) => `${kind} ${each}`)) {
        const owner = owners.get(key);
        if (owner === undefined) owners.set(key, place);
        else faults.push(`${place}: the ${key} is already declared by ${owner}`);
      }
    }
  };
}

/** What a manifest must have, and its names. The compiler checks the rest. */
const manifestSchema = Joi.object({
  name: name.required(),
  requires: Joi.array().items(name).unique().required(),
  scopes: Joi.object().pattern(/^[a-z]+(:[a-z]+)?$/, sentence),
  features: Joi.object().pattern(camelName, Joi.object()),
  instructions: sentence,
  models: Joi.array().items(Joi.object({ tracked: name }).unknown()),
  migrations: Joi.array()
    .items(
      Joi.object({
        name: Joi.string().pattern(/^\d{4}-[a-z-]+$/, 'a name such as 0001-revisions'),
      }).unknown(),
    )
    .unique('name')
    .sort({ by: 'name' }),
  setup: Joi.function().required(),
})
  .unknown()
  .required();

/** The fault in a manifest, if any. */
export function manifestSchemaFault(folder: string, manifest: unknown): string | undefined {
  const fault = faultOf(manifestSchema, manifest);
  if (fault !== undefined) return `plugins/${folder}: manifest: ${fault}`;
  // The schema requires the name to be there.
  const { name: given } = manifest as Plugin;
  return given === folder
    ? undefined
    : `plugins/${folder}: manifest: name is ${given}, but must be that of its folder`;
}

/** Names of the host, which plugins cannot use again. */
const HOST_CLAIMS: Claims = {
  'error code': hostErrors.map(({ code }) => code),
  setting: Object.values(hostSettings).map((each) => each.name),
  budget: [...Object.keys(HOST_BUDGETS), AUTH_FAILURES],
  model: hostModels.map((model) => model.name),
  collection: hostModels.map(collectionOf),
};

/**
 * Finds faults between manifests.
 *
 * @param names of all plugins, including those that cannot be loaded
 */
export function manifestFaults(plugins: readonly Plugin[], names: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  for (const { name: plugin, requires } of plugins) {
    for (const required of requires.filter((each) => !names.has(each))) {
      faults.push(`plugins/${plugin}: requires: there is no plugin ${required}`);
    }
  }
  const unique = uniqueness(faults);
  unique('src', HOST_CLAIMS);
  for (const plugin of plugins) {
    const { models = [] } = plugin;
    const place = `plugins/${plugin.name}`;
    unique(place, {
      plugin: [plugin.name],
      scope: Object.keys(plugin.scopes ?? {}),
      setting: settingsOf(plugin).map((each) => each.name),
      budget: Object.keys(plugin.budgets ?? {}),
      quota: Object.keys(plugin.quotas ?? {}),
      feature: Object.keys(plugin.features ?? {}),
      'error code': plugin.errors?.map(({ code }) => code),
    });
    for (const model of models) {
      unique(place, { model: [model.name], collection: [collectionOf(model)] });
      faults.push(...modelFaults(model).map((each) => `${place}: model ${model.name}: ${each}`));
    }
  }
  return faults;
}

function modelFaults({ schema, owner }: NonNullable<Plugin['models']>[number]): string[] {
  if (schema.get('collection') === undefined) return ['its schema must name its collection'];
  if (owner !== 'account') return [];
  return schema
    .indexes()
    .map(([fields]) => Object.keys(fields))
    .filter(([first]) => first !== 'userId')
    .map((fields) => `the index on ${fields.join(', ')} must lead with userId`);
}
