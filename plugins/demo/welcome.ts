import { hostSettings } from '../../src/core/settings/host-settings';
import { isLoopback } from '../../src/core/settings/settings';
import type { Host } from '../../src/plugins/host';
import type { FirstStart } from '../../src/plugins/plugin';
import { DAY_MS } from '../../src/core/time';
import { OperatorError } from '../../src/core/errors';
import { type Accounts, usualScopes } from '../accounts';
import type { SignIns } from '../oauth';
import type { SeededGarden } from './seeded-garden';

const TOKEN_SECONDS = (365 * DAY_MS) / 1000;
const LINK_MINUTES = 15;

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
  }: { accounts: Accounts; oauth: Pick<SignIns, 'signInLink'>; garden: SeededGarden },
  { url, scopes, loadSeeds }: FirstStart,
): Promise<string[]> {
  const isOwn = host.settings.of(hostSettings.mongodbUri) === undefined;
  if (!isOwn || (await accounts.tokens.hasTokens())) return [];
  await loadSeeds();
  if (garden.user === undefined) return [];
  const link = await linkFor(garden.user);
  const { token } = await accounts.tokens.createToken({
    userId: garden.user,
    scopes: usualScopes(scopes),
    name: 'demo',
    expiresInSeconds: TOKEN_SECONDS,
  });
  return [
    '',
    'A demo garden is loaded.',
    ...(link
      ? [`Open it in a browser, once and within ${LINK_MINUTES} minutes:`, '', `  ${link}`, '']
      : []),
    'Call the API:',
    '',
    `  curl -H 'Authorization: Bearer ${token}' ${url}/api/plants`,
    '',
    `API reference: ${url}/docs`,
  ];

  /** None if people sign in elsewhere, or use the service from other machines. */
  async function linkFor(user: string): Promise<string | undefined> {
    const { settings } = host;
    const publicUrl = settings.of(hostSettings.publicUrl);
    if (publicUrl !== undefined && !isLoopback(new URL(publicUrl))) return undefined;
    try {
      const link = new URL(await oauth.signInLink(user, LINK_MINUTES * 60));
      // PORT may be 0.
      if (publicUrl === undefined) link.port = new URL(url).port;
      return `${link.href}&return=/garden`;
    } catch (error) {
      if (error instanceof OperatorError) return undefined;
      throw error;
    }
  }
}
