import { hostSettings } from '../../src/core/host-settings';
import type { Host } from '../../src/plugins/host';
import type { FirstStart } from '../../src/plugins/plugin';
import { DAY_MS } from '../../src/core/time';
import type { Accounts } from '../accounts';

const TOKEN_SECONDS = (365 * DAY_MS) / 1000;

/**
 * Loads the seeds into an empty database of the program's own, and answers how to try the
 * service with them. A database that an operator brought gets no demo account that anybody could use.
 */
export async function welcome(
  host: Host,
  accounts: Accounts,
  { url, scopes, loadSeeds }: FirstStart,
): Promise<string[]> {
  const isOwn = host.settings.of(hostSettings.mongodbUri) === undefined;
  if (!isOwn || (await accounts.accounts()).length > 0) return [];
  await loadSeeds();
  const [account] = await accounts.accounts();
  if (!account) return [];
  const { token } = await accounts.createToken({
    userId: account.id,
    scopes: [...scopes.keys()],
    name: 'demo',
    expiresInSeconds: TOKEN_SECONDS,
  });
  return [
    '',
    'A demo garden is loaded. Try it:',
    '',
    `  curl -H 'Authorization: Bearer ${token}' ${url}/api/plants`,
    '',
    `All that the API can do: ${url}/docs`,
  ];
}
