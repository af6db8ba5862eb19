import { rmSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeFolder } from '../core/disk';
import { reasonOf } from '../core/values';
import { ServersError } from './errors';
import { Leases, type Owner } from './lease';

// A socket's address has room for 107 bytes (103 on macOS), of which a lease's name takes up to 34.
const LONGEST = 69;
const FOLDERS = ['cache', 'leases', 'logs', 'mongodb', 'redis'];
// Left by versions of this program whose servers listened on ports.
const OBSOLETE = ['holders', 'locks', 'redis.json'];

/** A data directory: where things are in it, who uses it, and whose it is. */
export class DataDirectory {
  readonly leases: Leases;

  private constructor(
    readonly root: string,
    /** Leads to the root by a name that is short enough for sockets. */
    readonly short: string,
    /** Undefined where what this program makes is the owner's anyway. */
    readonly owner: Owner | undefined,
  ) {
    this.leases = new Leases(path.join(short, 'leases'), owner);
  }

  /** @throws ServersError where it cannot be made or used */
  static async open(dataDir: string): Promise<DataDirectory> {
    const wanted = path.resolve(dataDir);
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

  /** The version of a server that served here last; undefined where none did. */
  async versionOf(server: string): Promise<string | undefined> {
    const noted = await fs.readFile(path.join(this.root, `${server}.json`), 'utf8').catch(() => '');
    return /"version":"([^"]+)"/.exec(noted)?.[1];
  }

  async setVersion(server: string, version: string): Promise<void> {
    await fs.writeFile(path.join(this.root, `${server}.json`), `${JSON.stringify({ version })}\n`);
    await this.giveToOwner();
    for (const name of OBSOLETE) {
      await fs.rm(path.join(this.root, name), { recursive: true, force: true });
    }
  }

  /** Where root works for its owner, nothing must be left that the owner cannot open. */
  async giveToOwner(): Promise<void> {
    if (this.owner === undefined) return;
    const { uid, gid } = this.owner;
    for (const name of await fs.readdir(this.root, { recursive: true })) {
      // What has gone meanwhile needs no owner.
      await fs.lchown(path.join(this.root, name), uid, gid).catch(() => undefined);
    }
  }

  /** At once, so that a process that exits can do so too. */
  close(): void {
    if (this.short === this.root) return;
    rmSync(path.dirname(this.short), { recursive: true, force: true });
  }
}

/** The root itself, or a link to it in the temporary folder. */
async function shorten(root: string): Promise<string> {
  // Clients of Redis take what follows a question mark for options.
  if (Buffer.byteLength(root) <= LONGEST && !root.includes('?')) return root;
  const link = path.join(await fs.mkdtemp(path.join(tmpdir(), 'plant-care-')), 'data');
  await fs.symlink(root, link);
  return link;
}
