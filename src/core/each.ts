/**
 * Runs work on each item, one after the other. One that fails stops no other.
 *
 * @param isOver ends the run before the next item
 * @throws the first failure, at the end
 */
export async function forEachTried<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<unknown>,
  isOver: () => boolean = () => false,
): Promise<void> {
  const failures: unknown[] = [];
  for await (const item of items) {
    if (isOver()) break;
    await work(item).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
