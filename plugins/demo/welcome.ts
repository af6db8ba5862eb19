import { hostSettings } from '../../src/core/settings/host-settings';
import type { Host } from '../../src/plugins/host';
import type { FirstStart } from '../../src/plugins/plugin';
import { DAY_MS } from '../../src/core/time';
import { OperatorError } from '../../src/core/errors';
import { type Accounts, usualScopes } from '../accounts';
import type { SignIns } from '../oauth';
import type { SeededGarden } from './seeded-garden';

const TOKEN_SECONDS = (365 * DAY_MS) / 1000;
const INVITATION_SECONDS = (7 * DAY_MS) / 1000;

/**
 * Loads the seeds into a managed MongoDB without any token, and returns lines that say how to try the
 * service. The token is created last, so an interrupted first start is completed by the next one. A
 * database of the operator's own gets no demo account, which anybody could use.
 */
export async function welcome(
  host: Host,
  {
    accounts,
    oauth,
    garden,
  }: { accounts: Accounts; oauth: Pick<SignIns, 'invite'>; garden: SeededGarden },
  { url, scopes, loadSeeds }: FirstStart,
): Promise<string[]> {
  const isOwn = host.settings.of(hostSettings.mongodbUri) === undefined;
  if (!isOwn || (await accounts.tokens.hasTokens())) return [];
  await loadSeeds();
  if (garden.user === undefined) return [];
  const invitation = await oauth
    .invite(garden.user, undefined, INVITATION_SECONDS)
    .catch((error: unknown) => {
      // People sign in elsewhere.
      if (error instanceof OperatorError) return undefined;
      throw error;
    });
  const link = invitation === undefined ? undefined : new URL(invitation);
  // PORT may be 0.
  if (link && host.settings.of(hostSettings.publicUrl) === undefined) link.port = new URL(url).port;
  const { token } = await accounts.tokens.createToken({
    userId: garden.user,
    scopes: usualScopes(scopes),
    name: 'demo',
    expiresInSeconds: TOKEN_SECONDS,
  });
  return [
    '',
    'A demo garden is loaded. Try it:',
    '',
    `  curl -H 'Authorization: Bearer ${token}' ${url}/api/plants`,
    '',
    `API reference: ${url}/docs`,
    ...(link
      ? [`The front page: ${link.origin}`, `Sign in there as ${garden.user}, once by ${link.href}`]
      : []),
  ];
}
