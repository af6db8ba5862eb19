import type { TestService } from '../../../../test/support/service';

/** Sets how much is spent of the budgets that have been used since a moment. */
export async function setSpent(service: TestService, spent: number, since: number): Promise<void> {
  const { connection } = service.app.database;
  const used = { kind: 'Budget', createdAt: { $gte: new Date(since) } };
  await connection.collection('oauthState').updateMany(used, { $set: { spent } });
}
