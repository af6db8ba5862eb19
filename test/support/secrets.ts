const TOKEN = /tnd_mcp_[0-9A-Za-z]{12}/;
/** What plants are called in tests that do not care. */
export const PLANT_NAME = 'Boston fern';

/**
 * What a program has logged or counted holds no token, no id of an account and no name of a plant,
 * whatever a test is about.
 *
 * @param ids of accounts, such as occur nowhere by chance
 * @throws Error that names what it holds
 */
export function requireNoSecrets(said: string, ids: readonly string[] = []): void {
  const tokens = TOKEN.exec(said)?.slice() ?? [];
  const found = [...tokens, ...[...ids, PLANT_NAME].filter((secret) => said.includes(secret))];
  if (found.length > 0) throw new Error(`It was logged or counted: ${found.join(', ')}`);
}
