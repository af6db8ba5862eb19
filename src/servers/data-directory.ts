import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, rmSync, type Stats } from 'node:fs';
import * as fs from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeFolder } from '../core/disk';
import { tooOld } from '../core/settings/project';
import { codeOf, reasonOf } from '../core/values';
import { ServersError } from './errors';

// The path of a socket may have 107 bytes (103 on macOS), of which a claim takes up to 34.
const LONGEST = 69;
const FOLDERS = ['cache', 'leases', 'logs', 'mongodb', 'redis'];
/** Files of 1.0.0, whose servers listened on ports. */
const OBSOLETE = ['holders', 'locks', 'redis.json'];

/** `server` is the long-running process of a data directory; `tool` is a command. */
export type Role = 'server' | 'tool';
/** The user and group of a data directory. */
export type Owner = Pick<Stats, 'uid' | 'gid'>;

/** Returns whether a process listens on a socket. */
export async function isListening(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  const refusal = await once(socket, 'connect').then(() => undefined, codeOf);
  socket.destroy();
  return refusal !== 'ECONNREFUSED' && refusal !== 'ENOENT';
}

/** A data directory: its layout, its owner, and the processes that claim its MongoDB. */
export class DataDirectory {
  private constructor(
    readonly root: string,
    /** A path to the root that is short enough for sockets. */
    readonly short: string,
    /** Set if root runs this process for another user, who must own the files. */
    readonly owner: Owner | undefined,
  ) {
    process.once('exit', this.close);
  }

  /** Whether a process uses a folder as its data directory, or has stored data there. */
  static async isInUse(dataDir: string): Promise<boolean> {
    const filesIn = (name: string): Promise<string[]> =>
      fs.readdir(path.join(dataDir, name)).catch(() => []);
    return (await Promise.all(['mongodb', 'leases'].map(filesIn))).flat().length > 0;
  }

  /** @throws ServersError if the directory cannot be created or used */
  static async open(dataDir: string): Promise<DataDirectory> {
    const wanted = path.resolve(dataDir);
    if (OBSOLETE.some((name) => existsSync(path.join(wanted, name)))) {
      throw new ServersError(tooOld(`The data in ${wanted}`));
    }
    try {
      await makeFolder(wanted, 0o700);
      const root = await fs.realpath(wanted);
      await fs.access(root, fs.constants.W_OK | fs.constants.X_OK);
      for (const name of FOLDERS) {
        await makeFolder(path.join(root, name));
        await fs.chmod(path.join(root, name), 0o700);
      }
      const { uid, gid } = await fs.stat(root);
      const owner = process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
      const directory = new DataDirectory(root, await shorten(root), owner);
      await directory.giveToOwner();
      return directory;
    } catch (error) {
      throw new ServersError(`The data directory ${wanted} cannot be used: ${reasonOf(error)}.`);
    }
  }

  /**
   * Claims the right to run MongoDB here. A claim is a socket in `leases` on which this process
   * listens, so that it ends with the process. Unlike a process id, it is valid across containers that
   * share the folder, and void in a copy of the folder.
   */
  async claim(role: Role): Promise<Server> {
    const server = createServer((socket) => socket.destroy()).unref();
    const file = `mongod-${role}.${randomUUID().slice(0, 8)}`;
    // Any user with access to the folder may check the claim.
    const access = { readableAll: true, writableAll: true };
    server.listen({ path: path.join(this.short, 'leases', file), ...access });
    await once(server, 'listening');
    return server;
  }

  /** Returns the roles of current claims; removes the claims of dead processes. */
  async claims(): Promise<Role[]> {
    const folder = path.join(this.short, 'leases');
    const roles: Role[] = [];
    for (const name of await fs.readdir(folder)) {
      const file = path.join(folder, name);
      if (!(await isListening(file))) await fs.rm(file, { force: true });
      else if (name.startsWith('mongod-server')) roles.push('server');
      else if (name.startsWith('mongod-tool')) roles.push('tool');
    }
    return roles;
  }

  /** Returns the version of the server that last ran here, if any. */
  async versionOf(server: string): Promise<string | undefined> {
    const noted = await fs.readFile(path.join(this.root, `${server}.json`), 'utf8').catch(() => '');
    return /"version":"([^"]+)"/.exec(noted)?.[1];
  }

  async setVersion(server: string, version: string): Promise<void> {
    await fs.writeFile(path.join(this.root, `${server}.json`), `${JSON.stringify({ version })}\n`);
    await this.giveToOwner();
  }

  /** Gives all files to the owner of the directory when root runs this process. */
  async giveToOwner(): Promise<void> {
    if (this.owner === undefined) return;
    const { uid, gid } = this.owner;
    for (const name of await fs.readdir(this.root, { recursive: true })) {
      // The file may have been removed meanwhile.
      await fs.lchown(path.join(this.root, name), uid, gid).catch(() => undefined);
    }
  }

  readonly close = (): void => {
    process.removeListener('exit', this.close);
    if (this.short === this.root) return;
    rmSync(path.dirname(this.short), { recursive: true, force: true });
  };
}

/** Returns the root itself, or a symbolic link to it in the temporary folder. */
async function shorten(root: string): Promise<string> {
  // Redis clients parse options after a question mark.
  if (Buffer.byteLength(root) <= LONGEST && !root.includes('?')) return root;
  const link = path.join(await fs.mkdtemp(path.join(tmpdir(), 'plant-care-')), 'data');
  await fs.symlink(root, link);
  return link;
}
