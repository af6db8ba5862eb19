import { Schema } from 'mongoose';

import type { DatedMoment } from '../../src/core/time';
import { IdType, type StoredId } from '../../src/core/ids';
import { accountModel } from '../../src/data/model/models';
import type { EventType, GrowthUnit } from '../events';

/** Stands for the total of all months. */
export const ALL_MONTHS = 'all';

/** The number of events of each type on each day of a month. */
export interface CareMonthDocument {
  userId: string;
  /** `YYYY-MM`, or {@link ALL_MONTHS}. */
  month: string;
  /** By day of the month, in two digits; for all months by weekday, 0 for Monday. */
  days: Record<string, Partial<Record<EventType, number>>>;
}

export const careMonthModel = accountModel<CareMonthDocument>(
  'CareMonth',
  new Schema(
    {
      userId: { type: String, required: true },
      month: { type: String, required: true },
      days: { type: Schema.Types.Mixed, required: true },
    },
    { collection: 'careMonths' },
  )
    // The months of an account, in order; one month, to count an event.
    .index({ userId: 1, month: 1 }, { unique: true }),
);

/** The growth of a plant in one of the units that were logged. */
export interface GrowthDocument {
  userId: string;
  plantId: StoredId;
  unit: GrowthUnit | null;
  /** An exact decimal: sums of binary fractions would drift. */
  total: string;
  measurements: number;
  first: DatedMoment;
  last: DatedMoment;
}

export const growthModel = accountModel<GrowthDocument>(
  'Growth',
  new Schema(
    {
      userId: { type: String, required: true },
      plantId: { type: IdType, required: true },
      unit: { type: String },
      total: { type: String, required: true },
      measurements: { type: Number, required: true },
      first: { type: Schema.Types.Mixed, required: true },
      last: { type: Schema.Types.Mixed, required: true },
    },
    { collection: 'growth' },
  )
    // The growth of an account; that of a plant, to add to it.
    .index({ userId: 1, plantId: 1, unit: 1 }, { unique: true }),
);
