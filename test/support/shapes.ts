import type { Response } from 'supertest';

import { withoutDetails } from './bodies';
import { record } from './client';

export { bodyOf, listOf, withoutDetails } from './bodies';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
/** A valid id of no record. */
export const NOBODYS_ID = '00000000-0000-4000-8000-000000000000';

// Jest types matchers as any; these match strings.
export const anyId = expect.stringMatching(UUID) as string;
export const anyInstant = expect.stringMatching(INSTANT) as string;

const anyDay = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) as string;

/** A plant that was created with a name only (docs/specification.md, 2.1). */
export function barePlant(userId: string, name: string) {
  return {
    id: anyId,
    userId,
    name,
    species: null,
    location: null,
    notes: null,
    primaryPhotoId: null,
    wateringFrequencyDays: null,
    wateringNotes: null,
    lightRequirement: null,
    lightNotes: null,
    soilType: null,
    potType: null,
    fertilizerType: null,
    fertilizerFrequencyDays: null,
    fertilizerNotes: null,
    humidityPreference: null,
    temperatureNotes: null,
    mossPoleNeeded: false,
    toxic: false,
    careNotes: null,
    createdAt: anyInstant,
    updatedAt: anyInstant,
    lastWatered: null,
    lastEvent: null,
  };
}

/** An event that was created without fields (docs/specification.md, 2.4). */
export function bareEvent(userId: string, plantId: string) {
  return {
    id: anyId,
    userId,
    plantId,
    type: 'watered',
    text: null,
    growthAmount: null,
    growthUnit: null,
    occurredAt: anyInstant,
    occurredOn: anyDay,
    createdAt: anyInstant,
    updatedAt: anyInstant,
    photos: [],
  };
}

/** The names of the top-level fields in a validation_error, sorted. */
export function faultsOf({ body }: { body: unknown }): string[] {
  const { code, details } = record(body);
  expect(code).toBe('validation_error');
  // As in docs/api.md; tests compare the names.
  const names = (details as { field: string }[]).map(({ field }) => field);
  expect(names).toEqual([...new Set(names)]);
  return [...new Set(names.map((name) => name.replace(/(\[\d+\]|\.).*$/, '')))].sort();
}

/** Requires a response to be an error with this status and code, with exactly the Error body. */
export function expectError(
  response: Pick<Response, 'status' | 'body'>,
  status: number,
  code: string,
  message: RegExp | string = /^[A-Z"_a-z].*\.$/s,
): void {
  expect({ status: response.status, body: withoutDetails(response.body) }).toEqual({
    status,
    body: { error: expect.stringMatching(message) as string, code },
  });
}
