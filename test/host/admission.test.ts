import { setImmediate } from 'node:timers/promises';

import { Admission, type Admitted } from '../../src/calls/admission';

type Size = Parameters<Admission['enter']>[0];

/** A call that was begun, and whether it was admitted yet. */
class Call {
  isAdmitted = false;
  readonly #place: Promise<Admitted>;

  constructor(admission: Admission, size: Size, account: string) {
    this.#place = admission.enter(size, account, gone).then((place) => {
      this.isAdmitted = true;
      return place;
    });
    // One that is never admitted fails when its test is over.
    this.#place.catch(() => undefined);
  }

  /** Waits until it is admitted, and makes its answer. */
  async make(): Promise<void> {
    (await this.#place).made();
  }

  /** Waits until it is admitted, and ends it. */
  async end(): Promise<void> {
    await this.make();
    (await this.#place).sent();
  }
}

let admission: Admission;
/** Callers stay until their test is over. */
let gone: Promise<unknown>;
let leave: (value?: unknown) => void;

beforeEach(() => {
  admission = new Admission(1200);
  gone = new Promise((resolve) => (leave = resolve));
});
afterEach(() => {
  leave();
  jest.useRealTimers();
});

/** Begins calls and lets those be admitted that may be. */
async function begin(size: Size, accounts: readonly string[]): Promise<Call[]> {
  const calls = accounts.map((account) => new Call(admission, size, account));
  await setImmediate();
  return calls;
}

async function beginOne(size: Size, account: string): Promise<Call> {
  const call = new Call(admission, size, account);
  await setImmediate();
  return call;
}

const admitted = (calls: readonly Call[]) => calls.filter(({ isAdmitted }) => isAdmitted).length;

test('an account that took large answers waits for its next ones; others do not', async () => {
  admission.count('ada', 3_000_000);
  const waiting = await beginOne('long', 'ada');
  await (await beginOne('long', 'bob')).end();
  await (await beginOne('short', 'ada')).end();
  expect(waiting.isAdmitted).toBe(false);
  await waiting.end();
});

test('an account that took much gets one read at a time, and more once that was a while ago', async () => {
  admission.count('ada', 800_000);
  const first = await beginOne('long', 'ada');
  const second = await beginOne('long', 'ada');
  expect([first, second].map(({ isAdmitted }) => isAdmitted)).toEqual([true, false]);
  await second.end();
  await first.end();
});

test('while very much of all answers is not taken, each account gets one read at a time', async () => {
  let take: (value?: unknown) => void = () => undefined;
  admission.hold(64 * 1024 * 1024, new Promise((resolve) => (take = resolve)));
  const first = await beginOne('long', 'ada');
  const second = await beginOne('long', 'ada');
  await (await beginOne('long', 'bob')).end();
  expect([first, second].map(({ isAdmitted }) => isAdmitted)).toEqual([true, false]);
  take();
  await second.end();
  await first.end();
});

test.each([
  ['long', 4, 200],
  ['whole', 2, 12],
  ['short', 200, 1000],
] as const)(
  'of calls with %s answers %d of an account and %d of all are worked on at once',
  async (size, ofAccount, ofAll) => {
    const own = await begin(size, Array<string>(ofAccount + 1).fill('ada'));
    expect(admitted(own)).toBe(ofAccount);
    const others = Array.from({ length: ofAll }, (_, index) => `account ${index}`);
    const all = [...own, ...(await begin(size, others))];
    expect(admitted(all)).toBe(ofAll);
    await own[0]?.make();
    await setImmediate();
    expect(admitted(all)).toBe(ofAll + 1);
  },
);

test('answers that are made and not taken keep their own account waiting, and nobody else', async () => {
  const untaken = await begin(
    'whole',
    Array.from({ length: 40 }, (_, index) => `account ${index >> 1}`),
  );
  for (const call of untaken) await call.make();
  const own = await beginOne('whole', 'account 0');
  expect([own, await beginOne('whole', 'ada')].map((call) => call.isAdmitted)).toEqual([
    false,
    true,
  ]);
});

test('while more of all answers is not taken than is held, there are no more long ones', async () => {
  let take: (value?: unknown) => void = () => undefined;
  admission.hold(256 * 1024 * 1024, new Promise((resolve) => (take = resolve)));
  const waiting = await beginOne('long', 'ada');
  await (await beginOne('short', 'ada')).end();
  expect(waiting.isAdmitted).toBe(false);
  take();
  await waiting.end();
});

test('no more than a thousand calls wait', async () => {
  // None of them gives up meanwhile.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  const accounts = Array.from({ length: 1200 }, (_, index) => `account ${index}`);
  await begin('long', accounts);
  await expect(admission.enter('long', 'ada', gone)).rejects.toThrow('waiting already');
});
