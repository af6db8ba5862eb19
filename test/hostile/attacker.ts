import { constants, setPriority } from 'node:os';

import { attacksOn, type Target } from './attacks';

const CONNECTIONS = 16;
const REPORT_EVERY_MS = 500;

/** By attack, how often each status was the response to requests that were sent one after another. */
export type AttackReport = Record<string, Record<string, number>>;

/** Attacks with all connections at once until the process is killed, with each attack in turn, and
 * keeps reporting the responses to its parent.
 */
function main(): void {
  // Attackers have machines of their own.
  setPriority(constants.priority.PRIORITY_LOW);
  // The message of its parent.
  const target = JSON.parse(process.env['TARGET'] ?? '') as Target;
  const attacks = attacksOn(target);
  const report: AttackReport = {};
  for (let connection = 0; connection < CONNECTIONS; connection += 1) {
    const first = Math.floor((connection * attacks.length) / CONNECTIONS);
    void attackOn([...attacks.slice(first), ...attacks.slice(0, first)], target, report);
  }
  setInterval(() => process.send?.(report), REPORT_EVERY_MS);
}

async function attackOn(
  attacks: ReturnType<typeof attacksOn>,
  target: Target,
  report: AttackReport,
): Promise<void> {
  for (;;) {
    for (const [name, attack] of attacks) {
      const statuses = (report[name] ??= {});
      const onStatus = (status: string): void => {
        statuses[status] = (statuses[status] ?? 0) + 1;
      };
      await attack({ ...target, onStatus });
    }
  }
}

main();
