import Joi from 'joi';

import { TIERS, type Tier } from '../../src/core/identity';
import {
  day,
  id,
  instant,
  integer,
  language,
  nullable,
  oneOf,
  text,
  timeOfDay,
  timezone,
  named,
} from '../../src/fields/joi';

interface LimitView {
  max: number;
  used: number;
}

export interface ProfileView {
  userId: string;
  tier: Tier;
  timezone: string;
  language: string;
  remindAt: string | null;
  reminders: number;
  gardenName?: string;
  now: Date;
  today: string;
  limits: Record<string, LimitView>;
  features: Record<string, boolean>;
  token: { id: string; name: string; scopes: readonly string[]; expiresAt: Date };
}

const limit = () => Joi.object({ max: integer(0).required(), used: integer(0).required() });

/**
 * The account of the caller (docs/api.md, "Account").
 *
 * @param quotas the names of the limits
 * @param features the names of features that only some tiers have
 */
export const profileSchema = (quotas: readonly string[], features: readonly string[]) =>
  named(
    'Account',
    Joi.object<ProfileView, true>({
      userId: text().required().example('ada'),
      tier: named('Tier', oneOf(TIERS)).required(),
      timezone: text()
        .required()
        .example('Europe/Paris')
        .description('IANA name; calendar days are those of this zone'),
      language: text()
        .required()
        .example('fr')
        .description('BCP 47; names are sorted by its rules'),
      remindAt: nullable(timeOfDay())
        .required()
        .description('Local time of reminders of due care; null for never'),
      reminders: integer(0)
        .required()
        .description('How many reminders are on; with none, nothing is sent at remindAt'),
      gardenName: text()
        .example('Balcony')
        .description('What the garden is called, once it has a name'),
      now: instant().required(),
      today: day().required().description("The calendar day in the account's time zone"),
      limits: Joi.object(Object.fromEntries(quotas.map((name) => [name, limit().required()])))
        .required()
        .description('Limits and usage'),
      features: Joi.object(
        Object.fromEntries(features.map((name) => [name, Joi.boolean().required()])),
      )
        .required()
        .description('Features that only some tiers have'),
      token: Joi.object({
        id: id().required(),
        name: text().required().example('Phone'),
        scopes: Joi.array().items(Joi.string().example('plants:read')).required(),
        expiresAt: instant().required(),
      })
        .required()
        .description('The token of this request'),
    }),
  );

interface UpdateProfile {
  timezone?: string;
  language?: string;
  remindAt?: string | null;
  gardenName?: string | null;
}

export const updateProfile = Joi.object<UpdateProfile, true>({
  timezone: timezone().description('IANA name of a time zone, such as Europe/Paris'),
  language: language().description('BCP 47, such as en, fr or pt-BR'),
  remindAt: nullable(timeOfDay()).description('Local time of reminders of due care, HH:MM'),
  gardenName: nullable(text({ min: 1, max: 60 }))
    .example('Balcony')
    .description('The name of the garden for those with whom it is shared'),
});
