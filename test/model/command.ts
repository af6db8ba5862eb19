import fc from 'fast-check';

import type { Actor, Kind, Target } from './actor';

/** One request, or a few that belong together, of one user. */
export interface Command {
  run(actor: Actor): Promise<void>;
  toString(): string;
}

/** A kind of command: its random part, and its effect. */
export function command<T>(
  name: string,
  input: fc.Arbitrary<T>,
  run: (actor: Actor, input: T) => Promise<unknown>,
): fc.Arbitrary<Command> {
  return input.map((given) => ({
    run: async (actor) => {
      await run(actor, given);
    },
    toString: () => `${name} ${fc.stringify(given)}`,
  }));
}

/** Mostly one of the actor's own records. */
export const target: fc.Arbitrary<Target> = fc.record({
  kind: fc.oneof(
    { weight: 18, arbitrary: fc.constant('own' as const) },
    { weight: 2, arbitrary: fc.constant('known' as const) },
    { weight: 1, arbitrary: fc.constant('missing' as const) },
    { weight: 1, arbitrary: fc.constant('malformed' as const) },
  ),
  // Often the first one, so that one plant gets a long list.
  pick: fc.oneof(fc.constant(0), fc.nat(99)),
});

/** A reference in a body, where a malformed id is a validation error. */
export const reference = target.map((one) =>
  one.kind === 'malformed' ? { ...one, kind: 'missing' as const } : one,
);

export const words = (maxLength: number) =>
  fc.oneof(
    fc.constantFrom('', ' Hall ', 'hall', 'Hall', 'Île d’été', '🌿 fern', 'a"\\$.b', '\u2028\n'),
    fc.string({ maxLength }),
    fc.constant('x'.repeat(maxLength)),
  );

/** A kind of command on one record; it does nothing if there are no records. */
export function commandOn<T>(
  name: string,
  kind: Kind,
  input: fc.Arbitrary<T>,
  run: (actor: Actor, id: string, input: T) => Promise<unknown>,
): fc.Arbitrary<Command> {
  return command(name, fc.tuple(target, input), async (actor, [one, given]) => {
    const id = actor.id(kind, one);
    if (id !== undefined) await run(actor, id, given);
  });
}
