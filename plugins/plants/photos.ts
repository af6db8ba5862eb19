import type Joi from 'joi';

import { type ErrorCode, validationError } from '../../src/core/errors';
import type { StoredId } from '../../src/core/ids';
import type { AccountScope } from '../../src/data/models';
import type { Transaction } from '../../src/data/transaction';

/** Where plants find their primary photos. A plugin that keeps photos provides it. */
export interface PhotoSource {
  /** A photo as it is shown. */
  view: Joi.Schema;
  /** What `showIn` fails with. */
  errors: readonly ErrorCode[];
  /** Photos of an account by the text forms of their ids; those that are not there are left out. */
  byIds(scope: AccountScope, ids: readonly StoredId[]): Promise<ReadonlyMap<string, object>>;
  /**
   * Has a plant show photos; those that are of no plant become its own.
   *
   * @throws ApiError where a field of a request names a photo that is not the account's own
   */
  showIn(tx: Transaction, plantId: string, ids: readonly string[], field: string): Promise<unknown>;
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

  get errors(): readonly ErrorCode[] {
    return this.#source?.errors ?? [];
  }

  byIds(scope: AccountScope, ids: readonly StoredId[]): Promise<ReadonlyMap<string, object>> {
    return this.#source?.byIds(scope, ids) ?? Promise.resolve(new Map<string, object>());
  }

  /** @throws ApiError where a request names a photo that is not the account's own */
  async showIn(tx: Transaction, plantId: string, id: string | null | undefined): Promise<void> {
    if (id === undefined || id === null) return;
    if (!this.#source) throw validationError.error('primaryPhotoId: nothing keeps photos.');
    await this.#source.showIn(tx, plantId, [id], 'primaryPhotoId');
  }
}
