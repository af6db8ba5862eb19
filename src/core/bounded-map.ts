/** A map that keeps no more than so many entries: what came first goes first. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: Key, value: Value): this {
    super.set(key, value);
    if (this.size > this.#most) {
      const [first] = this.keys();
      if (first !== undefined) this.delete(first);
    }
    return this;
  }
}
