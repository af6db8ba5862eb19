import { DAY_MS } from '../../../src/core/time';
import { giveBack, startService, takeDatabase } from '../../../test/support/program';

test('used assertions of 1.2.0 that never expire are kept for a year, and nothing else changes', async () => {
  const mongodbUri = takeDatabase();
  const before = await startService({ mongodbUri });
  const { connection } = before.app.database;
  const soon = new Date(Date.now() + 200_000);
  const far = new Date('2190-01-01');
  const kept = [
    { kind: 'ReplayDetection', expiresAt: soon },
    { kind: 'RefreshToken', expiresAt: soon },
    { kind: 'Client', expiresAt: far },
  ];
  const late = Array.from({ length: 3 }, () => ({ kind: 'ReplayDetection', expiresAt: far }));
  const documents = [...kept, ...late].map((each, index) => ({
    ...each,
    _id: String(index) as never,
    payload: '{}',
    createdAt: new Date(),
  }));
  await connection.collection('oauthState').insertMany(documents);
  await connection.collection('migrations').deleteOne({ _id: 'oauth/0001-assertions' as never });
  await before.close();
  const after = await startService({ mongodbUri });
  const state = after.app.database.connection.collection('oauthState');
  const left = await state.find({ _id: { $in: documents.map(({ _id }) => _id) } }).toArray();
  const ends = new Map(left.map(({ _id, expiresAt }) => [String(_id), Number(expiresAt)]));
  for (const [index, { expiresAt }] of kept.entries()) {
    expect(ends.get(String(index))).toBe(Number(expiresAt));
  }
  for (const index of [3, 4, 5]) {
    expect(Number(ends.get(String(index))) - Date.now()).toBeLessThanOrEqual(365 * DAY_MS);
  }
  expect(left).toHaveLength(6);
  await after.close();
  await giveBack(mongodbUri);
});
