const TOKEN = /tnd_mcp_[0-9A-Za-z]{12}/;
/** The default name of plants. */
export const PLANT_NAME = 'Boston fern';

/**
 * Requires that logs and metrics contain no token, account id or plant name.
 *
 * @param ids of accounts, long enough not to occur by chance
 * @throws Error with what they contain
 */
export function requireNoSecrets(said: string, ids: readonly string[] = []): void {
  const tokens = TOKEN.exec(said)?.slice() ?? [];
  const found = [...tokens, ...[...ids, PLANT_NAME].filter((secret) => said.includes(secret))];
  if (found.length > 0) throw new Error(`Found in logs or metrics: ${found.join(', ')}`);
}
