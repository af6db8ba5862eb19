import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';

import { makeFolder } from '../../core/disk';
import { forEachTried } from '../../core/each';
import { hostSettings } from '../../core/settings/host-settings';
import type { Settings } from '../../core/settings/settings';
import { codeOf } from '../../core/values';
import { explain } from './errors';

/** Default names of backups. Only scheduled ones are ever removed. */
const NAME = /^plant-care-(scheduled-)?(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.tar\.gz$/;

/** The tolerated clock skew between servers. */
const AHEAD_MS = 5 * 60_000;

interface BackupFile {
  path: string;
  madeAt: Date;
  /** Whether a server's schedule made it. */
  isScheduled: boolean;
  /** Whether its date is in the future because of a wrong clock, so that its age is unknown. */
  isAhead: boolean;
}

/** The default folder for backups. */
export class BackupFolder {
  readonly path: string;

  constructor(settings: Settings) {
    const { backupDir, dataDir } = hostSettings;
    this.path = path.resolve(settings.of(backupDir) ?? path.join(settings.of(dataDir), 'backups'));
  }

  /**
   * Creates the folder if it is missing; returns the path of a backup made now.
   *
   * @throws BackupError if the folder cannot be created
   */
  async nextFile({ scheduled }: { scheduled: boolean }): Promise<string> {
    await makeFolder(this.path, 0o700).catch((error: unknown) => {
      throw explain(error);
    });
    const moment = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
    return path.join(this.path, `plant-care-${scheduled ? 'scheduled-' : ''}${moment}Z.tar.gz`);
  }

  /** Returns the backups, newest first; those of unknown age come last. */
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

  async newest({ scheduled = false } = {}): Promise<BackupFile | undefined> {
    const made = await this.backups();
    return made.find((each) => !each.isAhead && (each.isScheduled || !scheduled));
  }

  /** Removes all scheduled backups except the newest. */
  async prune(keep: number): Promise<void> {
    const scheduled = (await this.backups()).filter(({ isScheduled }) => isScheduled);
    await forEachTried(scheduled.slice(keep), ({ path: file }) => rm(file, { force: true }));
  }
}
