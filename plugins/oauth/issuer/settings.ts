import Joi from 'joi';

import { isLoopback, Setting, type Settings } from '../../../src/core/settings/settings';
import type { Plugin } from '../../../src/plugins/plugin';

/** As it stands in tokens: with the slash at the end where the issuer has one. */
const issuerUrl = Joi.string()
  .uri({ scheme: ['https', 'http'] })
  .custom((text: string, helpers) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isSafe = url?.protocol === 'https:' || (url !== undefined && isLoopback(url));
    const custom =
      '{{#label}} must be an https address such as https://id.example.com/realms/plants';
    return isSafe && url.search === '' && url.hash === '' ? text : helpers.message({ custom });
  });

// A name may hold anything: the claims of some issuers are addresses.
const text = Joi.string().max(255);

const issuerSetting = new Setting<string | undefined>(
  'OIDC_ISSUER',
  issuerUrl,
  undefined,
  'The issuer whose JWTs let people in, instead of the pages to sign in here; exactly as in iss',
);
const audienceSetting = new Setting<string | undefined>(
  'OIDC_AUDIENCE',
  text,
  undefined,
  'What aud of the JWTs of OIDC_ISSUER must be, or have in its list',
);
const tierClaimSetting = new Setting<string | undefined>(
  'OIDC_TIER_CLAIM',
  text,
  undefined,
  'The claim of the JWTs of OIDC_ISSUER that says the tier; without it operators and backends set it',
);
const scopesSetting = new Setting<string[]>(
  'OIDC_SCOPES',
  // The custom rule turns the string into a list, which Joi's type does not follow.
  Joi.string().custom((list: string) =>
    list.split(/[\s,]+/).filter((scope) => scope !== ''),
  ) as unknown as Joi.Schema<string[]>,
  [],
  'Scopes, by comma, of a JWT of OIDC_ISSUER that names none of ours; accounts:manage here lets one have it that names it',
);

const clientIdSetting = new Setting<string | undefined>(
  'OIDC_CLIENT_ID',
  text,
  undefined,
  'The client at OIDC_ISSUER by which people sign in to /settings; its redirect is PUBLIC_URL/settings/signed-in',
);
const clientSecretSetting = new Setting<string | undefined>(
  'OIDC_CLIENT_SECRET',
  text,
  undefined,
  'The secret of OIDC_CLIENT_ID, if it has one',
  () => '***',
);

export const issuerSettings = [
  ...[issuerSetting, audienceSetting, tierClaimSetting, scopesSetting],
  ...[clientIdSetting, clientSecretSetting],
];

export const issuerRules: NonNullable<Plugin['rules']> = [
  (settings) =>
    settings.isGiven(issuerSetting) === settings.isGiven(audienceSetting)
      ? undefined
      : `${issuerSetting.name} and ${audienceSetting.name} must be set together`,
  (settings) =>
    settings.isGiven(clientIdSetting) && !settings.isGiven(issuerSetting)
      ? `${clientIdSetting.name} needs ${issuerSetting.name}`
      : undefined,
  (settings, scopes) => {
    const unknown = settings.of(scopesSetting).find((scope) => !scopes.has(scope));
    return unknown === undefined
      ? undefined
      : `${scopesSetting.name} must be of ${[...scopes.keys()].join(', ')}, and not ${unknown}`;
  },
];

/** An issuer whose JWTs let people in. */
export interface Issuer {
  /** As in `iss`. */
  name: string;
  audience: string;
  tierClaim: string | undefined;
  /** What a JWT may do that names no scope of ours. */
  scopes: readonly string[];
  /** By which people sign in to /settings. */
  clientId: string | undefined;
  clientSecret: string | undefined;
}

/** The issuer that there is instead of the program's own authorization server, if any. */
export function issuerOf(settings: Settings): Issuer | undefined {
  const name = settings.of(issuerSetting);
  const audience = settings.of(audienceSetting);
  if (name === undefined || audience === undefined) return undefined;
  return {
    ...{ name, audience },
    tierClaim: settings.of(tierClaimSetting),
    scopes: settings.of(scopesSetting),
    clientId: settings.of(clientIdSetting),
    clientSecret: settings.of(clientSecretSetting),
  };
}
