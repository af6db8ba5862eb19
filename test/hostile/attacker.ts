import { attacksOn, type Target } from './attacks';

const CONNECTIONS = 16;

/** Attacks with all connections at once until the process is ended; each by everything in turn. */
function main(): void {
  // What its parent gives it.
  const target = JSON.parse(process.env['TARGET'] ?? '') as Target;
  const attacks = attacksOn(target);
  for (let connection = 0; connection < CONNECTIONS; connection += 1) {
    void attackOn(connection, attacks, target);
  }
}

async function attackOn(
  connection: number,
  attacks: ReturnType<typeof attacksOn>,
  target: Target,
): Promise<never> {
  for (let turn = connection; ; turn += 1) {
    const [, attack] = attacks[turn % attacks.length] ?? [];
    await attack?.(target);
  }
}

main();
