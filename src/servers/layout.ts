import { constants } from 'node:fs';
import { access, mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { reasonOf, ServersError } from './errors';

/** Where things are in a data directory. */
export interface Layout {
  root: string;
  holders: string;
  locks: string;
  logs: string;
}

/** Makes the data directory ready for use and says where things are in it. */
export async function openDataDirectory(dataDir: string): Promise<Layout> {
  const wanted = resolve(dataDir);
  try {
    await mkdir(wanted, { recursive: true });
    // One directory must have one name, or two programs would not see each other.
    const root = await realpath(wanted);
    const layout = {
      root,
      holders: join(root, 'holders'),
      locks: join(root, 'locks'),
      logs: join(root, 'logs'),
    };
    for (const folder of [layout.holders, layout.locks, layout.logs]) {
      await mkdir(folder, { recursive: true });
      await access(folder, constants.W_OK | constants.X_OK);
    }
    return layout;
  } catch (error) {
    throw new ServersError(`The data directory ${wanted} cannot be used: ${reasonOf(error)}.`);
  }
}
