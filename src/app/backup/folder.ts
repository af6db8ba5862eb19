import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { makeFolder } from '../../core/disk';
import { hostSettings } from '../../core/settings/host-settings';
import type { Settings } from '../../core/settings/settings';
import { codeOf } from '../../core/values';
import { explain } from './errors';
import { PARTIAL } from './whole-file';

/** Names of backups that were given none; only those that the server made are ever removed. */
const NAME = /^plant-care-(scheduled-)?(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.tar\.gz$/;

/** By how much the clock of another server may be ahead of this one's. */
const AHEAD_MS = 5 * 60_000;

/** How long nothing is written to a backup whose program was killed. */
const STALE_MS = 5 * 60_000;

/** A backup in the folder for those that are given no file. */
interface BackupFile {
  path: string;
  madeAt: Date;
  /** Whether the server made it by itself. */
  isScheduled: boolean;
  /** Whether a clock that was wrong named it: when it was made nobody knows. */
  isAhead: boolean;
}

/** The folder for backups that are given no file. */
export class BackupFolder {
  readonly path: string;

  constructor(settings: Settings) {
    const { backupDir, dataDir } = hostSettings;
    this.path = path.resolve(settings.of(backupDir) ?? path.join(settings.of(dataDir), 'backups'));
  }

  /** Where the backup that a scheduled one becomes is written; one program at a time does. */
  get scheduledPartial(): string {
    return path.join(this.path, `plant-care-scheduled${PARTIAL}`);
  }

  /**
   * Makes the folder where it is missing; returns a path in it for a backup that is made now.
   *
   * @throws BackupError where it cannot be made
   */
  async nextFile({ scheduled }: { scheduled: boolean }): Promise<string> {
    await makeFolder(this.path, 0o700).catch((error: unknown) => {
      throw explain(error);
    });
    const moment = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
    return path.join(this.path, `plant-care-${scheduled ? 'scheduled-' : ''}${moment}Z.tar.gz`);
  }

  /** The backups in it, the newest first; last those of which nobody knows when they were made. */
  async backups(): Promise<BackupFile[]> {
    const names = await readdir(this.path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    });
    const found = names.flatMap((name): BackupFile[] => {
      const [match, scheduled, day, ...time] = NAME.exec(name) ?? [];
      if (match === undefined) return [];
      const madeAt = new Date(`${day ?? ''}T${time.join(':')}Z`);
      const isAhead = madeAt.getTime() > Date.now() + AHEAD_MS;
      const isScheduled = scheduled !== undefined;
      return [{ path: path.join(this.path, name), madeAt, isScheduled, isAhead }];
    });
    return found.sort(
      (a, b) => Number(a.isAhead) - Number(b.isAhead) || b.madeAt.getTime() - a.madeAt.getTime(),
    );
  }

  /** The newest backup; undefined where there is none. */
  async newest({ scheduled = false } = {}): Promise<BackupFile | undefined> {
    const made = await this.backups();
    return made.find((each) => !each.isAhead && (each.isScheduled || !scheduled));
  }

  /** Removes all that the server made but the newest. */
  async prune(keep: number): Promise<void> {
    const scheduled = (await this.backups()).filter(({ isScheduled }) => isScheduled);
    for (const { path: file } of scheduled.slice(keep)) await rm(file, { force: true });
  }

  /**
   * Returns whether a scheduled backup is being written, by whichever program; what a killed one left
   * is removed.
   */
  async isBeingWritten(): Promise<boolean> {
    const partial = await stat(this.scheduledPartial).catch(() => undefined);
    if (!partial) return false;
    if (Math.abs(Date.now() - partial.mtimeMs) < STALE_MS) return true;
    await rm(this.scheduledPartial, { force: true });
    return false;
  }
}
