import type Joi from 'joi';

import { type ErrorCode, validationError } from '../../src/core/errors';
import { type StoredId, toStoredId } from '../../src/core/ids';
import type { AccountScope } from '../../src/data/models';

/** Where plants find their primary photos. A plugin that keeps photos provides it. */
export interface PhotoSource {
  /** A photo as it is shown. */
  view: Joi.Schema;
  /** The error for a field that names a photo that is not the account's own. */
  unknownPhoto: ErrorCode;
  /** Photos of an account by the text forms of their ids; those that are not there are left out. */
  byIds(scope: AccountScope, ids: readonly StoredId[]): Promise<ReadonlyMap<string, object>>;
}

/** The primary photos of plants; there are none until a source is provided. */
export class PrimaryPhotos {
  #source: PhotoSource | undefined;

  provide(source: PhotoSource): void {
    this.#source = source;
  }

  get view(): Joi.Schema | undefined {
    return this.#source?.view;
  }

  get errors(): ErrorCode[] {
    return this.#source ? [this.#source.unknownPhoto] : [];
  }

  byIds(scope: AccountScope, ids: readonly StoredId[]): Promise<ReadonlyMap<string, object>> {
    return this.#source?.byIds(scope, ids) ?? Promise.resolve(new Map<string, object>());
  }

  /** @throws ApiError where a request names a photo that is not the account's own */
  async requireOwn(scope: AccountScope, id: string | null | undefined): Promise<void> {
    if (id === undefined || id === null) return;
    const text = id.toLowerCase();
    if ((await this.byIds(scope, [toStoredId(id)])).has(text)) return;
    const kind = this.#source?.unknownPhoto ?? validationError;
    throw kind.error(`primaryPhotoId names a photo that is not yours: ${text}.`);
  }
}
