import type { Reading } from '../../../src/core/metrics';
import { DAY_MS, HOUR_MS } from '../../../src/core/time';
import type { Host } from '../../../src/plugins/host';
import type { Job } from '../../../src/plugins/plugin';
import { tokenModel } from '../model';

const DAYS = [7, 30];

/** Counts valid tokens that expire soon, so that operators renew them. */
export class ExpiringTokens {
  readonly #tokens;
  #counts: Record<string, number> | undefined;

  constructor(host: Host) {
    this.#tokens = host.model(tokenModel);
  }

  get job(): Job {
    return {
      name: 'count of expiring tokens',
      everySeconds: HOUR_MS / 1000,
      run: async () => {
        const now = Date.now();
        const counts = DAYS.map(async (days) => {
          const expiresAt = { $gt: new Date(now), $lte: new Date(now + days * DAY_MS) };
          const count = await this.#tokens.countDocuments({ revokedAt: null, expiresAt });
          return [`${days}d`, count] as const;
        });
        this.#counts = Object.fromEntries(await Promise.all(counts));
      },
    };
  }

  get reading(): Reading {
    return {
      name: 'tokens_expiring',
      help: 'Valid tokens that expire within so many days, counted hourly',
      label: 'within',
      read: () => this.#counts,
    };
  }
}
