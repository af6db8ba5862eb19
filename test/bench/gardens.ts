import accountsPlugin from '../../plugins/accounts';
import demoPlugin from '../../plugins/demo/cli';
import type { Program } from '../../src/app/program';
import type { Sample, Target } from './load';
import type { Gardener } from './subjects';

/** Limits that are counted as usual, but never reached. */
export const LIMITS = {
  RATE_LIMIT_PLANTS_CREATE_MAX: '100000000',
  RATE_LIMIT_WRITES_MAX: '100000000',
  RATE_LIMIT_READS_MAX: '100000000',
  TIER_PRO_PLANTS: '100000000',
};

/** Creates an account with a garden, with the command for demo data. */
export async function makeGardener(
  { app }: Program,
  server: Target,
  garden: { user: string; plants: number; events: number },
): Promise<Gardener> {
  const silent = { advance: () => undefined, stop: () => undefined };
  await app.exportsOf(demoPlugin).write({ ...garden, tier: 'pro', seed: 7 }, silent);
  const { token } = await app.exportsOf(accountsPlugin).tokens.createToken({
    userId: garden.user,
    scopes: [...app.scopes.keys()],
    name: 'bench',
    expiresInSeconds: 24 * 3600,
  });
  const { text } = await server.send(listOf(token));
  const [plant] = JSON.parse(text) as { id: string }[]; // The list of plants.
  return { token, plantId: plant?.id ?? '' };
}

/** The request for the list of plants. */
export function listOf(token: string): Sample {
  const headers = { authorization: `Bearer ${token}` };
  return { method: 'GET', path: '/api/plants', headers };
}
