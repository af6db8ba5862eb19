import { startService } from '../support/program';

test('a service that is stopping is not ready, responds to further requests, and closes their connections', async () => {
  const service = await startService({});
  const user = await service.user();
  service.app.beginClosing();
  const ready = await service.anonymous.get('/readyz').expect(503);
  expect(ready.body).toEqual({ error: 'The service is stopping.', code: 'service_unavailable' });
  expect(ready.get('Retry-After')).toMatch(/^[1-9]\d*$/);
  expect(ready.get('Connection')).toBe('close');
  const answer = await user.get('/api/plants').expect(200);
  expect(answer.get('Connection')).toBe('close');
  await service.close();
});
