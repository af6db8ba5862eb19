import Joi from 'joi';

import { DomainEvent } from '../../data/domain-event';
import { hostModels } from '../../data/host-models';
import { collectionOf } from '../../data/models';
import { hostErrors } from '../../core/errors';
import { AUTH_FAILURES, HOST_BUDGETS, hostSettings } from '../../core/host-settings';
import { TIERS } from '../../core/identity';
import { Setting } from '../../core/settings';
import { type Plugin, settingsOf } from '../plugin';
import {
  camelName,
  errorCode,
  faultOf,
  feature,
  name,
  reasonFor,
  sentence,
  uniqueness,
} from './schemas';

const setting = Joi.object().instance(Setting);

const manifestSchema = Joi.object({
  name: name.required(),
  requires: Joi.array().items(name).unique().required(),
  collects: Joi.array().items(Joi.valid('changes')),
  scopes: Joi.object().pattern(/^[a-z]+(:[a-z]+)?$/, sentence),
  settings: Joi.array().items(setting),
  budgets: Joi.object().pattern(/./, setting),
  quotas: Joi.object().pattern(
    /./,
    Joi.object({
      limits: Joi.object(
        Object.fromEntries(TIERS.map((tier) => [tier, setting.required()])),
      ).required(),
      error: errorCode.required(),
    }),
  ),
  features: Joi.object().pattern(camelName, feature),
  errors: Joi.array().items(errorCode),
  emits: Joi.array().items(Joi.object().instance(DomainEvent)),
  instructions: sentence,
  tag: Joi.object({ name: sentence.required(), description: sentence.required() }),
  models: Joi.array().items(
    Joi.object({
      name: Joi.string().required(),
      schema: Joi.object().unknown().required(),
      owner: Joi.alternatives(Joi.valid('account'), reasonFor('shared')).required(),
      tracked: name,
      softlyDeleted: Joi.boolean(),
      quota: Joi.object({ name: Joi.string().required(), deletedToo: Joi.boolean().required() }),
    }),
  ),
  migrations: Joi.array()
    .items(
      Joi.object({
        name: Joi.string()
          .pattern(/^\d{4}-[a-z-]+$/, 'a name such as 0001-revisions')
          .required(),
        besideOlder: Joi.boolean().required(),
        run: Joi.function().required(),
      }),
    )
    .unique('name')
    .sort({ by: 'name' }),
  commands: Joi.function(),
  setup: Joi.function().required(),
}).required();

/** What is wrong with one manifest by itself. */
export function manifestSchemaFault(folder: string, manifest: unknown): string | undefined {
  const fault = faultOf(manifestSchema, manifest);
  if (fault !== undefined) return `plugins/${folder}: manifest: ${fault}`;
  // The schema requires the name to be there.
  const { name: given } = manifest as Plugin;
  return given === folder
    ? undefined
    : `plugins/${folder}: manifest: name is ${given}, and must be that of its folder`;
}

/** What is wrong between manifests. */
export function manifestFaults(plugins: readonly Plugin[]): string[] {
  const faults: string[] = [];
  const names = new Set(plugins.map((plugin) => plugin.name));
  for (const plugin of plugins) {
    for (const required of plugin.requires) {
      if (!names.has(required)) {
        faults.push(`plugins/${plugin.name}: requires: there is no plugin ${required}`);
      }
    }
  }
  const unique = uniqueness(faults);
  for (const error of hostErrors) unique('src', 'error code', error.code);
  for (const setting of Object.values(hostSettings)) unique('src', 'setting', setting.name);
  for (const budget of [...Object.keys(HOST_BUDGETS), AUTH_FAILURES]) {
    unique('src', 'budget', budget);
  }
  for (const model of hostModels) {
    unique('src', 'model', model.name);
    unique('src', 'collection', collectionOf(model));
  }
  for (const plugin of plugins) {
    const place = `plugins/${plugin.name}`;
    unique(place, 'plugin', plugin.name);
    for (const scope of Object.keys(plugin.scopes ?? {})) unique(place, 'scope', scope);
    for (const { name: variable } of settingsOf(plugin)) unique(place, 'setting', variable);
    for (const budget of Object.keys(plugin.budgets ?? {})) unique(place, 'budget', budget);
    for (const quota of Object.keys(plugin.quotas ?? {})) unique(place, 'quota', quota);
    for (const each of Object.keys(plugin.features ?? {})) unique(place, 'feature', each);
    for (const error of plugin.errors ?? []) unique(place, 'error code', error.code);
    for (const model of plugin.models ?? []) {
      unique(place, 'model', model.name);
      unique(place, 'collection', collectionOf(model));
      faults.push(...modelFaults(place, model));
    }
  }
  return faults;
}

function modelFaults(place: string, model: NonNullable<Plugin['models']>[number]): string[] {
  if (model.schema.get('collection') === undefined) {
    return [`${place}: model ${model.name}: its schema must name its collection`];
  }
  if (model.owner !== 'account') return [];
  return model.schema
    .indexes()
    .map(([fields]) => Object.keys(fields))
    .filter(([first]) => first !== 'userId')
    .map(
      (fields) =>
        `${place}: model ${model.name}: the index on ${fields.join(', ')} must lead with userId`,
    );
}
