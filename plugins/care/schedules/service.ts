import { fieldErrors } from '../../../src/core/errors';
import { newId, toStoredId } from '../../../src/core/ids';
import { calendarOf } from '../../../src/core/time';
import type { Tenant } from '../../../src/data/models';
import type { OwnedModel } from '../../../src/data/owner';
import { insert, LIST_ORDER, Resource, type ResourceOf } from '../../../src/data/resource';
import type { Transaction } from '../../../src/data/transaction';
import { plantNotFound, type Plants } from '../../plants';
import { MAX_SCHEDULES, scheduleLimitReached, scheduleNotFound } from './errors';
import { faultsOf } from './faults';
import {
  type CreateSchedule,
  schedule,
  type ScheduleDocument,
  type ScheduleView,
  type UpdateSchedule,
} from './schema';

/** What is done with schedules, and what other plugins do with them. */
export class ScheduleService {
  readonly #plants: Plants;
  readonly #model: OwnedModel<ScheduleDocument>;
  readonly #schedules: ResourceOf<typeof schedule.fields>;

  constructor(plants: Plants, model: OwnedModel<ScheduleDocument>) {
    this.#plants = plants;
    this.#model = model;
    this.#schedules = new Resource(schedule, model, scheduleNotFound);
  }

  /** Those of a plant, oldest first. @throws ApiError plant_not_found */
  async list(tenant: Tenant, plantId: string): Promise<ScheduleView[]> {
    if (!(await this.#plants.exists(tenant, plantId))) throw plantNotFound.error();
    const found = await this.#model.find({ plantId }).of(tenant).sort(LIST_ORDER).lean();
    return found.map((each) => schedule.toView(each));
  }

  /** @throws ApiError schedule_not_found */
  async get(tenant: Tenant, id: string): Promise<ScheduleView> {
    return schedule.toView(await this.#schedules.get(tenant, id));
  }

  /** @throws ApiError plant_not_found; schedule_limit_reached; validation_error for what is no rule */
  async create(tx: Transaction, plantId: string, body: CreateSchedule): Promise<ScheduleView> {
    const { userId, now, account } = tx;
    if (!(await this.#plants.exists(tx, plantId))) throw plantNotFound.error();
    if ((await this.#model.countDocuments({ plantId }).of(tx)) >= MAX_SCHEDULES) {
      throw scheduleLimitReached.error();
    }
    const document = schedule.toDocument(
      { ...body, startOn: body.startOn ?? calendarOf(account.timezone)(now) },
      {
        ...{ _id: newId(), userId, plantId: toStoredId(plantId) },
        ...{ createdAt: now, updatedAt: now },
      },
    );
    requireRule(document);
    await insert(this.#model, tx, [document]);
    return schedule.toView(document);
  }

  /**
   * Changes the fields given; none given changes nothing.
   *
   * @throws ApiError schedule_not_found; validation_error where it would be no rule
   */
  async update(tx: Transaction, id: string, body: UpdateSchedule): Promise<ScheduleView> {
    const before = await this.#schedules.get(tx, id);
    requireRule({ ...before, ...schedule.toChanges(body) });
    return schedule.toView(await this.#schedules.update(tx, id, body));
  }

  /** Deletes one for good. @throws ApiError schedule_not_found */
  delete(tx: Transaction, id: string): Promise<void> {
    return this.#schedules.delete(tx, id);
  }

  /** Deletes those of a plant. */
  async deleteOfPlant(tx: Transaction, plantId: string): Promise<void> {
    await this.#model.deleteMany({ plantId }).of(tx);
  }
}

function requireRule(document: ScheduleDocument): void {
  const faults = faultsOf(document);
  if (faults.length > 0) throw fieldErrors(faults);
}
