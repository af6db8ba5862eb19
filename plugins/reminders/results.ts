import { unlessGone } from '../../src/core/identity';
import { asUuid } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import type { Host } from '../../src/plugins/host';
import type { Result } from './channels/means';
import { type Reminder, reminderModel } from './model';
import { actOn } from './service';

/** How long a reminder may fail before it is switched off. */
const MAX_FAILING_MS = 3 * DAY_MS;

/** What becomes of reminders by the results of attempts. */
export class Results {
  readonly #host: Host;
  readonly #reminders;

  constructor(host: Host) {
    this.#host = host;
    this.#reminders = host.model(reminderModel);
  }

  /** Records the result of an attempt; one that has failed for too long, or reaches nobody, is switched off. */
  async record(which: Reminder, { error, isGone = false }: Result): Promise<void> {
    const now = new Date();
    const _id = asUuid(which._id);
    if (error === null) {
      const $set = { lastSentAt: now, failingSince: null, problem: null };
      await this.#reminders.updateOne({ _id }, { $set });
      return;
    }
    const failingSince = which.failingSince ?? now;
    // Unless the person has switched it on meanwhile.
    const same = { _id, failingSince: which.failingSince };
    const isTooLong = now.getTime() - failingSince.getTime() >= MAX_FAILING_MS;
    if (!isGone && !isTooLong) {
      await this.#reminders.updateOne(same, { $set: { failingSince, problem: error } });
      return;
    }
    const why = isGone
      ? 'Nobody receives this reminder any more, so it was switched off'
      : 'This reminder failed for 3 days, so it was switched off';
    await this.#switchOff(which, { failingSince, problem: `${why}: ${error}` });
  }

  async #switchOff(
    which: Reminder,
    failure: Pick<Reminder, 'failingSince' | 'problem'>,
  ): Promise<void> {
    const work = this.#host.transact(which.userId, async (tx) => {
      const { session } = tx;
      const $set = { active: false, ...failure };
      const isOn = { _id: asUuid(which._id), failingSince: which.failingSince, active: true };
      const { modifiedCount } = await this.#reminders.updateOne(isOn, { $set }, { session });
      if (modifiedCount > 0) tx.audit(actOn(which, 'switched_off'));
    });
    await unlessGone(work);
  }
}
