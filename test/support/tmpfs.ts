import { execFileSync, spawnSync } from 'node:child_process';

const MOUNT = ['-t', 'tmpfs', 'tmpfs'];

/** Whether this machine can mount a file system. */
export const CAN_MOUNT =
  spawnSync('unshare', ['--mount', 'mount', ...MOUNT, '/mnt'], { stdio: 'ignore' }).status === 0;

/** Mounts a tmpfs at a folder; returns a function that unmounts it. */
export function mountTmpfs(folder: string, options: string): () => void {
  execFileSync('mount', [...MOUNT, '-o', options, folder]);
  return () => {
    execFileSync('umount', ['--lazy', folder]);
  };
}
