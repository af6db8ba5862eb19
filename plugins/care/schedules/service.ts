import { anyOf, idText, newId, type StoredId, toStoredId } from '../../../src/core/ids';
import { canonicalJson } from '../../../src/core/values';
import type { Tenant } from '../../../src/data/model/models';
import type { OwnedModel } from '../../../src/data/model/owner';
import { insert, Resource, type ResourceOf } from '../../../src/data/model/resource';
import type { Transaction } from '../../../src/data/writing/transaction';
import { ValidationErrors } from '../../../src/fields/validation';
import { type Events, scheduleNotFound } from '../../events';
import { plantNotFound, type Plants } from '../../plants';
import { addition } from '../acts';
import { dueOnOf, todayOf } from '../needs';
import { ruleOf } from './days';
import { faultsOf } from './faults';
import type { ScheduleLastCare } from './last-care';
import { BY_PLANT, MAX_SCHEDULES, scheduleLimitReached } from './model';
import {
  type CreateSchedule,
  schedule,
  type ScheduleDocument,
  type ScheduleView,
  type UpdateSchedule,
} from './schema';

interface Dependencies {
  plants: Plants;
  events: Pick<Events, 'removeSchedule'>;
  lastCare: ScheduleLastCare;
  model: OwnedModel<ScheduleDocument>;
}

/** Schedules of plants. */
export class ScheduleService {
  readonly #plants: Plants;
  readonly #events: Pick<Events, 'removeSchedule'>;
  readonly #lastCare: ScheduleLastCare;
  readonly #model: OwnedModel<ScheduleDocument>;
  readonly #schedules: ResourceOf<typeof schedule.fields>;

  constructor({ plants, events, lastCare, model }: Dependencies) {
    this.#plants = plants;
    this.#events = events;
    this.#lastCare = lastCare;
    this.#model = model;
    this.#schedules = new Resource(schedule, model, scheduleNotFound);
  }

  /** The schedules of some plants, by plant, oldest first. */
  ofPlants(tenant: Tenant, plantIds: readonly StoredId[]): Promise<ScheduleDocument[]> {
    const ofThem = { plantId: anyOf(plantIds) };
    return this.#model.find(ofThem).of(tenant).sort(BY_PLANT).lean<ScheduleDocument[]>().exec();
  }

  /**
   * The schedules of a plant, oldest first.
   *
   * @param today the day in the account's time zone
   * @throws ApiError plant_not_found
   */
  async list(tenant: Tenant, plantId: string, today: string): Promise<ScheduleView[]> {
    const isArchived = await this.#isArchived(tenant, plantId);
    const found = await this.#schedules.list(tenant, { plantId });
    return found.map((each) => viewOf(each, isArchived, today));
  }

  /** @throws ApiError schedule_not_found */
  async get(tx: Transaction, id: string): Promise<ScheduleView> {
    return this.#present(tx, await this.#schedules.get(tx, id));
  }

  /** @throws ApiError plant_not_found, schedule_limit_reached, validation_error (see `faultsOf`) */
  async create(tx: Transaction, plantId: string, body: CreateSchedule): Promise<ScheduleView> {
    const { userId, now } = tx;
    const isArchived = await this.#isArchived(tx, plantId);
    if ((await this.#model.countDocuments({ plantId }).of(tx)) >= MAX_SCHEDULES) {
      throw scheduleLimitReached.error();
    }
    const document = schedule.toDocument(
      { ...body, startOn: body.startOn ?? todayOf(tx) },
      {
        _id: newId(),
        userId,
        plantId: toStoredId(plantId),
        createdAt: now,
        updatedAt: now,
      },
    );
    requireRule(document);
    document.last = await this.#lastCare.of(tx, document);
    await insert(this.#model, tx, [document]);
    return viewOf(document, isArchived, todayOf(tx));
  }

  /** Inserts many schedules at once. */
  async insertBulk(tx: Transaction, documents: readonly ScheduleDocument[]): Promise<void> {
    await insert(this.#model, tx, documents);
  }

  /**
   * Changes the given fields, or nothing if none is given.
   *
   * @throws ApiError schedule_not_found, validation_error (see `faultsOf`)
   */
  async update(tx: Transaction, id: string, body: UpdateSchedule): Promise<ScheduleView> {
    const before = await this.#schedules.get(tx, id);
    const after = { ...before, ...schedule.toChanges(body) };
    requireRule(after);
    await this.#keepRule(tx, before, after);
    return this.#present(tx, await this.#schedules.update(tx, id, body, before));
  }

  /**
   * Deletes a schedule for good. Its events stay without one, so they count for others of their type.
   *
   * @throws ApiError schedule_not_found
   */
  async delete(tx: Transaction, id: string): Promise<void> {
    const deleted = await this.#schedules.delete(tx, id);
    await this.#events.removeSchedule(tx, id);
    await this.#lastCare.recompute(tx, deleted.plantId);
    await this.#lastCare.showSnoozes(tx, [deleted]);
  }

  /** Deletes the schedules of a plant. */
  async deleteOfPlant(tx: Transaction, plantId: string): Promise<void> {
    await this.#model.deleteMany({ plantId }).of(tx);
  }

  /** Keeps a rule that is replaced, for decisions of until now, which may arrive later. */
  async #keepRule(
    tx: Transaction,
    before: ScheduleDocument,
    after: ScheduleDocument,
  ): Promise<void> {
    const { now: at, revision } = tx;
    const rule = ruleOf(before);
    if (canonicalJson(rule) === canonicalJson(ruleOf(after))) return;
    const change = addition('acts', { at, revision, rule });
    const kept = this.#model.updateOne({ _id: before._id }, change).of(tx);
    await kept.setOptions({ tracked: false });
    // Decisions of later moments may have another effect now.
    await this.#lastCare.showSnoozes(tx, [before]);
  }

  async #present(tx: Transaction, document: ScheduleDocument): Promise<ScheduleView> {
    const isArchived = await this.#isArchived(tx, idText(document.plantId));
    return viewOf(document, isArchived, todayOf(tx));
  }

  /** @throws ApiError plant_not_found */
  async #isArchived(tenant: Tenant, plantId: string): Promise<boolean> {
    const [plant] = await this.#plants.fields(tenant, ['archivedAt'], { ids: [plantId] });
    if (!plant) throw plantNotFound.error();
    return Boolean(plant.archivedAt);
  }
}

function viewOf(document: ScheduleDocument, isArchived: boolean, today: string): ScheduleView {
  const dueOn = isArchived ? null : dueOnOf(document, today);
  return { ...schedule.toView(document), dueOn };
}

function requireRule(document: ScheduleDocument): void {
  const errors = new ValidationErrors();
  for (const { field, what } of faultsOf(document)) errors.add(field, what);
  errors.throwIfAny();
}
