import { execFileSync, spawnSync } from 'node:child_process';

const MOUNT = ['-t', 'tmpfs', 'tmpfs'];

/** Whether a file system can be mounted on this machine. */
export const CAN_MOUNT =
  spawnSync('unshare', ['--mount', 'mount', ...MOUNT, '/mnt'], { stdio: 'ignore' }).status === 0;

/** Mounts a file system of its own at a folder; answers how to unmount it. */
export function mountTmpfs(folder: string, options: string): () => void {
  execFileSync('mount', [...MOUNT, '-o', options, folder]);
  return () => {
    execFileSync('umount', ['--lazy', folder]);
  };
}
