import type { Host } from '../../src/plugins/manifest';
import { SEEDS_FOLDER } from '../../src/seeds';
import { hostSettings } from '../../src/settings';
import type { AccountService } from '../accounts/service';

const TOKEN_SECONDS = 365 * 24 * 60 * 60;

/**
 * Loads the seeds into an empty database of the program's own, and tells how to try the service
 * with them. A database that an operator brought gets no demo account that anybody could use.
 */
export async function welcome(
  host: Host,
  accounts: AccountService,
  url: string,
): Promise<string[]> {
  const isOwn = host.settings.of(hostSettings.mongodbUri) === undefined;
  if (!isOwn || (await accounts.accounts()).length > 0) return [];
  await host.loadSeeds(SEEDS_FOLDER);
  const [account] = await accounts.accounts();
  if (!account) return [];
  const { token } = await accounts.createToken({
    userId: account.id,
    scopes: [...host.scopes.keys()],
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
