import { giveBack, startService, takeDatabase } from '../../../test/support/program';

test('assertions of 1.2.0 that never expire are deleted, and those that may still be repeated are kept', async () => {
  const mongodbUri = takeDatabase();
  const before = await startService({ mongodbUri });
  const { connection } = before.app.database;
  const soon = new Date(Date.now() + 200_000);
  const kept = ['ReplayDetection', 'RefreshToken'].map((kind) => ({ kind, expiresAt: soon }));
  const far = new Date('2190-01-01');
  const gone = Array.from({ length: 3 }, () => ({ kind: 'ReplayDetection', expiresAt: far }));
  const client = { kind: 'Client', expiresAt: far };
  const documents = [...kept, client, ...gone].map((each, index) => ({
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
  expect(left.map(({ kind }) => String(kind)).sort()).toEqual([
    'Client',
    'RefreshToken',
    'ReplayDetection',
  ]);
  await after.close();
  await giveBack(mongodbUri);
});
