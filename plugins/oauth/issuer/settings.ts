import Joi from 'joi';

import { isLoopback, Setting, type Settings } from '../../../src/core/settings/settings';
import type { Plugin } from '../../../src/plugins/plugin';

/** As in tokens: with the trailing slash, if the issuer has one. */
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
  'The issuer whose JWTs the API accepts, instead of its own sign-in pages; exactly as in iss',
);
const audienceSetting = new Setting<string | undefined>(
  'OIDC_AUDIENCE',
  text,
  undefined,
  'The audience that JWTs of OIDC_ISSUER must have in aud',
);
const tierClaimSetting = new Setting<string | undefined>(
  'OIDC_TIER_CLAIM',
  text,
  undefined,
  'The claim with the tier in JWTs of OIDC_ISSUER; without it, operators and backends set the tier',
);
const scopesSetting = new Setting<string[]>(
  'OIDC_SCOPES',
  Joi.string<string[]>().custom((list: string) =>
    list.split(/[\s,]+/).filter((scope) => scope !== ''),
  ),
  [],
  'Scopes, separated by commas, of a JWT of OIDC_ISSUER that names none of ours; accounts:manage is granted only to JWTs that also name it',
);

const clientIdSetting = new Setting<string | undefined>(
  'OIDC_CLIENT_ID',
  text,
  undefined,
  'The client at OIDC_ISSUER through which people sign in to /settings; its redirect URI is PUBLIC_URL/settings/signed-in',
);
const clientSecretSetting = new Setting<string | undefined>(
  'OIDC_CLIENT_SECRET',
  text,
  undefined,
  'The secret of OIDC_CLIENT_ID, if it has one',
  () => '***',
);

export const issuerSettings = [
  issuerSetting,
  audienceSetting,
  tierClaimSetting,
  scopesSetting,
  clientIdSetting,
  clientSecretSetting,
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
      : `${scopesSetting.name} contains the unknown scope ${unknown}; choose from ${[...scopes.keys()].join(', ')}`;
  },
];

/** An issuer whose JWTs the API accepts. */
export interface Issuer {
  /** As in `iss`. */
  name: string;
  audience: string;
  tierClaim: string | undefined;
  /** Scopes of a JWT that names none of ours. */
  scopes: readonly string[];
  /** The client for signing in to /settings. */
  clientId: string | undefined;
  clientSecret: string | undefined;
}

/** The issuer that replaces the program's own authorization server, if any. */
export function issuerOf(settings: Settings): Issuer | undefined {
  const name = settings.of(issuerSetting);
  const audience = settings.of(audienceSetting);
  if (name === undefined || audience === undefined) return undefined;
  return {
    name,
    audience,
    tierClaim: settings.of(tierClaimSetting),
    scopes: settings.of(scopesSetting),
    clientId: settings.of(clientIdSetting),
    clientSecret: settings.of(clientSecretSetting),
  };
}
