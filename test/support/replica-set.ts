import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { mongo } from 'mongoose';

import { findBinary } from '../../src/servers/binaries';
import { until, freePort } from './processes';

const NAME = 'three';
/** How soon the others notice that the primary is gone; 10 s by default. */
const ELECTION_MS = 2000;

interface Member {
  port: number;
  process: ChildProcess;
}

/** A replica set of three members of a test's own. */
export class ReplicaSet {
  readonly #members: readonly Member[];
  readonly #home: string;

  private constructor(members: readonly Member[], home: string) {
    this.#members = members;
    this.#home = home;
  }

  static async start(): Promise<ReplicaSet> {
    const search = { root: tmpdir(), progress: () => undefined };
    const binary = await findBinary('mongod', { ...search, chosen: process.env['MONGOD_BINARY'] });
    const home = mkdtempSync(path.join(tmpdir(), 'plant-care-set-'));
    const members: Member[] = [];
    for (let index = 0; index < 3; index += 1) {
      const port = await freePort();
      const dbpath = mkdtempSync(path.join(home, 'member-'));
      const args = ['--dbpath', dbpath, '--port', String(port), '--bind_ip', '127.0.0.1'];
      const small = ['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64', '--nounixsocket'];
      const child = spawn(binary.path, [...args, ...small, '--replSet', NAME], { stdio: 'ignore' });
      members.push({ port, process: child });
    }
    const set = new ReplicaSet(members, home);
    await set.#initiate();
    return set;
  }

  /** The URI of a database. */
  uri(database: string): string {
    const hosts = this.#members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `mongodb://${hosts}/${database}?replicaSet=${NAME}`;
  }

  /** Kills the primary. */
  async killPrimary(): Promise<void> {
    const client = await new mongo.MongoClient(this.uri('admin')).connect();
    const hello: Record<string, unknown> = await client.db().command({ hello: 1 });
    await client.close();
    const primary = this.#members.find(({ port }) => hello['primary'] === `127.0.0.1:${port}`);
    if (!primary) throw new Error('There is no primary.');
    await kill(primary.process);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#members.map((member) => kill(member.process)));
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #initiate(): Promise<void> {
    const clients = await Promise.all(
      this.#members.map(({ port }) =>
        new mongo.MongoClient(`mongodb://127.0.0.1:${port}/admin?directConnection=true`).connect(),
      ),
    );
    const [client] = clients;
    if (!client) throw new Error('A replica set has members.');
    const members = this.#members.map(({ port }, _id) => ({ _id, host: `127.0.0.1:${port}` }));
    const settings = { electionTimeoutMillis: ELECTION_MS };
    await client.db().command({ replSetInitiate: { _id: NAME, members, settings } });
    await until(async () => {
      const hello: Record<string, unknown> = await client.db().command({ hello: 1 });
      return hello['isWritablePrimary'] === true;
    });
    await Promise.all(clients.map((each) => each.close()));
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
