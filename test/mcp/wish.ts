import { record, records } from '../support/client';
import { type Assistant, callTool } from './support';

/** The maximum cost of a wish; a long list takes a call for each page. */
const CALLS = 5;
const TOKENS = 8500;
/** The approximate number of characters per token. */
const CHARACTERS = 4;

export type Item = Record<string, unknown> & { id: string };

/** A model: it knows the results so far, and the day and zone from the instructions. */
export class Conversation {
  readonly #assistant: Assistant;
  #calls = 0;
  #characters = 0;

  constructor(assistant: Assistant) {
    this.#assistant = assistant;
  }

  /** Calls a tool that must succeed. */
  async call(name: string, given: object = {}): Promise<Record<string, unknown>> {
    const { content, isError, structuredContent } = await callTool(this.#assistant, name, given);
    const text = content[0]?.text ?? '';
    expect([name, isError ?? false, text]).toEqual([name, false, text]);
    this.#calls += 1;
    this.#characters += JSON.stringify(given).length + text.length;
    return record(structuredContent);
  }

  async items(name: string, given: object = {}): Promise<Item[]> {
    return records((await this.call(name, given))['items']) as Item[]; // All have ids.
  }

  /** All items of a list, page by page. */
  async all(name: string, given: object = {}): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: unknown;
    do {
      const page = await this.call(name, { ...given, cursor });
      items.push(...(records(page['items']) as Item[])); // All have ids.
      cursor = page['nextCursor'];
    } while (typeof cursor === 'string');
    return items;
  }

  get tokens(): number {
    return this.#characters / CHARACTERS;
  }

  /** Expects the cost of the wish to be within the limit. */
  expectShort(): void {
    expect(this.#calls).toBeLessThanOrEqual(CALLS);
    expect(this.tokens).toBeLessThanOrEqual(TOKENS);
  }
}
