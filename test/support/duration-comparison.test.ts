import { compareDurations, type Timed } from './duration-comparison';

/**
 * Times like those of requests to a busy machine: a fifth apart as a rule, some many times as long,
 * and all of them longer while something else runs.
 */
class BusyMachine {
  #count = 0;

  times(milliseconds: number): Timed {
    return () => {
      this.#count += 1;
      const isBusy = Math.floor(this.#count / 30) % 2 === 1;
      const hiccup = Math.random() < 0.05 ? 10 * milliseconds * Math.random() : 0;
      const typical = milliseconds * (1 + 0.2 * normal());
      return Promise.resolve((isBusy ? 2 : 1) * Math.max(typical, 0) + hiccup);
    };
  }
}

/** A random number of the standard normal distribution, by Box and Muller. */
function normal(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

/** How many of as many comparisons find a difference. */
async function alarms(comparisons: number, first: Timed, second: Timed): Promise<number> {
  let found = 0;
  for (let count = 0; count < comparisons; count += 1) {
    const { differ } = await compareDurations(first, second);
    if (differ) found += 1;
  }
  return found;
}

test('what takes equally long is never taken for different', async () => {
  const machine = new BusyMachine();
  expect(await alarms(500, machine.times(10), machine.times(10))).toBe(0);
});

test('a time that falls as a machine warms up is no difference', async () => {
  let time = 1000;
  const falling = () => Promise.resolve((time *= 0.99));
  expect(await alarms(500, falling, falling)).toBe(0);
});

test.each([
  ['the first', 15, 10],
  ['the second', 10, 15],
])('where %s takes half as long again, this is found', async (_which, first, second) => {
  const machine = new BusyMachine();
  // Chance stops a few before there is enough to see.
  expect(await alarms(200, machine.times(first), machine.times(second))).toBeGreaterThan(150);
});

test.each([
  { percent: 1, differ: false, pairs: 10 },
  { percent: 4, differ: true, pairs: 192 },
])(
  'where every pair shows $percent % more time, that they differ is $differ',
  async ({ percent, ...expected }) => {
    const first = () => Promise.resolve(100 + Math.random());
    const second = () => Promise.resolve(100 + percent + Math.random());
    for (const order of [[first, second] as const, [second, first] as const]) {
      expect(await compareDurations(...order)).toMatchObject(expected);
    }
  },
);
