import { DomainEvent, type Transaction, on } from '../../src/data/writing/transaction';
import { commitGroup } from '../../src/data/writing/group-commit';
import { Quotas } from '../../src/data/model/quotas';
import { startService } from '../support/program';

test('events that listeners emit are handled, and what their listeners record is written', async () => {
  const service = await startService();
  try {
    const user = await service.user();
    const { audit, database, fence, identity } = service.app;
    const steps = ['first', 'second', 'third', 'fourth'].map(
      (name) => new DomainEvent<string>(name),
    );
    const handled: string[] = [];
    const listeners = steps.map((step, index) =>
      on(step, async (tx, payload) => {
        handled.push(payload);
        const next = steps[index + 1];
        if (next) await tx.emit(next, next.name);
        else tx.audit({ action: 'steps.done', target: { type: 'account', id: user.id } });
      }),
    );
    const dependencies = {
      database,
      fence,
      audit,
      identity,
      listeners,
      quotas: new Quotas(new Map(), service.app.settings),
      counts: new Map(),
    };
    const [first] = steps;
    const write = {
      userId: user.id,
      work: async (tx: Transaction) => {
        if (first) await tx.emit(first, first.name);
      },
      deadline: Infinity,
      isGivenUp: false,
    };
    await commitGroup(dependencies, [write]);
    expect(handled).toEqual(['first', 'second', 'third', 'fourth']);
    const recorded = [];
    for await (const batch of audit.entries({ action: 'steps.done' })) recorded.push(...batch);
    expect(recorded).toHaveLength(1);
  } finally {
    await service.close();
  }
});
