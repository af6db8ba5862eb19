import { TryLater } from '../../../examples/offline-client/api';
import { openClient } from '../../../examples/offline-client/client';
import { memoryStore } from '../../../examples/offline-client/store';
import type { Tokens } from '../../../examples/offline-client/types';

export type OfflineClient = ReturnType<typeof openClient>;

/** A phone with the example as its app. */
export class Device {
  readonly store = memoryStore();
  readonly keychain;
  client: OfflineClient;

  constructor(
    readonly url: string,
    tokens: Tokens | string,
    readonly garden?: string,
  ) {
    const kept = typeof tokens === 'string' ? { access_token: tokens } : tokens;
    this.keychain = memoryStore(JSON.stringify(kept));
    this.client = this.restart();
  }

  /** Starts the app again with what it has stored. */
  restart(): OfflineClient {
    const { url, store, keychain, garden } = this;
    const options = { url, store, keychain, timeoutMs: 10_000 };
    this.client = openClient({ ...options, ...(garden !== undefined && { garden }) });
    return this.client;
  }

  /** Synchronizes until it has all answers, without waiting in between. */
  async syncThrough(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        await this.client.sync();
        return;
      } catch (error) {
        if (!(error instanceof TryLater) || tries > 100) throw error;
      }
    }
  }
}
