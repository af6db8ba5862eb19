/** The records of several lists in one order, which is that of each of them. */
export async function* merged<T>(
  lists: readonly AsyncIterable<readonly T[]>[],
  isBefore: (a: T, b: T) => boolean,
): AsyncGenerator<T> {
  const streams = lists.map(recordsOf);
  try {
    const heads = await Promise.all(streams.map(headOf));
    for (;;) {
      const first = heads.reduce<Head<T> | undefined>(
        (best, head) => (head && (!best || isBefore(head.record, best.record)) ? head : best),
        undefined,
      );
      if (!first) return;
      yield first.record;
      heads[heads.indexOf(first)] = await headOf(first.stream);
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  }
}

/** The next record of a list. */
interface Head<T> {
  record: T;
  stream: AsyncGenerator<T>;
}

async function headOf<T>(stream: AsyncGenerator<T>): Promise<Head<T> | undefined> {
  const next = await stream.next();
  return next.done === true ? undefined : { record: next.value, stream };
}

async function* recordsOf<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}
