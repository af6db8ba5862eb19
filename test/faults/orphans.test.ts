import { setTimeout as sleep } from 'node:timers/promises';

import { mongo } from 'mongoose';
import pino from 'pino';

import { APP_NAME, OrphanedTransactions } from '../../src/data/mongodb/orphans';
import { Client } from '../support/client';
import { resetClock, setClock } from '../support/clock';
import type { TestService } from '../support/service';
import { startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService({ redisUrl: null });
});
afterAll(() => service.close());

/** Another process in the middle of a write to an account; as if killed, unless it continues. */
async function writing(userId: string, appName: string) {
  const client = await new mongo.MongoClient(service.mongodbUri, { appName }).connect();
  const session = client.startSession();
  const accounts = client.db().collection<{ _id: string }>('accounts');
  session.startTransaction();
  await accounts.updateOne({ _id: userId }, { $inc: { revision: 1 } }, { session });
  return {
    goOn: () => accounts.findOne({ _id: userId }, { session }),
    commit: () => session.commitTransaction(),
    close: () => client.close(true),
  };
}

function addPlant({ token }: { token: string }) {
  const client = new Client(service.url, token);
  return client.send('POST', '/api/plants', { body: { name: 'Fern' } });
}

test('a write that the transaction of a killed process blocks succeeds once that is ended', async () => {
  const user = await service.user();
  const killed = await writing(user.id, APP_NAME);
  try {
    const plants = await Promise.all([addPlant(user), addPlant(user)]);
    expect(plants.map(({ status }) => status)).toEqual([201, 201]);
    expect(service.logged.join('')).toContain('a killed process left open');
    expect(await addPlant(user)).toMatchObject({ status: 201 });
  } finally {
    await killed.close();
  }
});

test('active transactions and those of other programs are not ended', async () => {
  const [ann, bob] = await Promise.all([service.user(), service.user()]);
  const alive = await writing(ann.id, APP_NAME);
  const foreign = await writing(bob.id, 'another program');
  try {
    const waiting = Promise.all([addPlant(ann), addPlant(bob)]);
    // Longer than transactions of killed processes are tolerated, and shorter than MongoDB's own limit.
    const end = Date.now() + 8500;
    while (Date.now() < end) {
      await sleep(500);
      await alive.goOn();
    }
    await alive.commit();
    await foreign.commit();
    // On a busy machine, waiting writes may have timed out.
    await waiting;
    for (const user of [ann, bob]) expect(await addPlant(user)).toMatchObject({ status: 201 });
  } finally {
    await alive.close();
    await foreign.close();
  }
});

test('a transaction that has just paused is not ended, even if the clock is set ahead', async () => {
  const user = await service.user();
  const alive = await writing(user.id, APP_NAME);
  const orphans = new OrphanedTransactions(
    service.app.database.connection,
    pino({ level: 'silent' }),
  );
  try {
    await orphans.end();
    setClock(Date.now() + 3_600_000);
    await orphans.end();
    await alive.goOn();
    await alive.commit();
  } finally {
    resetClock();
    await alive.close();
  }
});
