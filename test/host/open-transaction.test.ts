import { DomainEvent } from '../../src/data/domain-event';
import { onAll } from '../../src/data/listener';
import { openTransaction } from '../../src/data/open-transaction';
import { startService } from '../support/program';

test('what listeners emit is handled to the end, and what those record is written', async () => {
  const service = await startService();
  try {
    const user = await service.user();
    const { audit, database, identity } = service.app;
    const steps = ['first', 'second', 'third', 'fourth'].map(
      (name) => new DomainEvent<string>(name),
    );
    const handled: string[] = [];
    const listeners = steps.map((step, index) =>
      onAll(step, async (tx, payloads) => {
        handled.push(...payloads);
        const next = steps[index + 1];
        if (next) await tx.emit(next, next.name);
        else tx.audit({ action: 'steps.done', target: { type: 'account', id: user.id } });
      }),
    );
    const dependencies = {
      identity: () => identity,
      listeners: () => listeners,
      counts: () => new Map(),
      audit,
    };
    await database.transaction(async (session) => {
      const open = await openTransaction(dependencies, session, [user.id]);
      const tx = open.accounts[0]?.tx;
      for (const step of steps.slice(0, 1)) await tx?.emit(step, step.name);
      await open.finish();
    });
    expect(handled).toEqual(['first', 'second', 'third', 'fourth']);
    const recorded = [];
    for await (const batch of audit.entries({ action: 'steps.done' })) recorded.push(...batch);
    expect(recorded).toHaveLength(1);
  } finally {
    await service.close();
  }
});
