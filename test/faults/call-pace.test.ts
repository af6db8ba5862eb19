import { CallPace } from '../../src/calls/call-pace';

const NEVER = new Promise<never>(() => undefined);

test('an account cannot spend the budget of a minute at once; others do not wait for it', async () => {
  const pace = new CallPace(1200);
  const started = performance.now();
  let begun = 0;
  const calls = Array.from({ length: 480 }, async () => {
    await pace.begin('ada', NEVER);
    begun += 1;
  });
  await pace.begin('bob', NEVER);
  // As many as begin in one turn of the event loop.
  expect(begun).toBeLessThanOrEqual(4);
  await Promise.all(calls);
  // 240 at once, and the others at 240 a second.
  expect(performance.now() - started).toBeGreaterThan(990);
});

test('a call whose caller is gone is not made, and one that waits does so for 3 s at most', async () => {
  const pace = new CallPace(1200);
  pace.countBody('ada', 100_000_000);
  const started = performance.now();
  await expect(pace.begin('ada', Promise.resolve())).rejects.toThrow('its caller is gone');
  const gone = performance.now() - started;
  await pace.begin('ada', NEVER);
  const waited = performance.now() - started;
  expect(gone).toBeLessThan(waited / 2);
  expect(waited).toBeGreaterThan(2900);
});
