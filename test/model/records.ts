/** The expected response of an operation: a body if it succeeds, a code if it fails. */
export type Answer = { status: number; body: unknown } | { status: number; code: string };

/** Values that only the server knows: an id, and times. */
export interface Made {
  id(): string;
  at(field: 'createdAt' | 'updatedAt' | 'occurredAt'): string;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Photo extends Record<string, unknown> {
  id: string;
  plantId: string | null;
  width: number;
  height: number;
}

export interface Plant {
  id: string;
  primaryPhotoId: string | null;
  fields: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
}

export interface CareEvent {
  id: string;
  plantId: string;
  type: string;
  text: string | null;
  growthAmount: number | null;
  growthUnit: string | null;
  occurredAt: string;
  /** Its calendar day, fixed when it was logged or moved. */
  day: string;
  createdAt: string;
  updatedAt: string;
  photoIds: string[];
}

export interface AccountFacts {
  id: string;
  timezone: string;
  isPro: boolean;
  maxPlants: number;
  maxPhotos: number;
}
