import { runAlone } from './run';

test('openapi prints the document that the server serves, without a server', async () => {
  const { code, stdout, stderr } = await runAlone('openapi');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    openapi: '3.1.0',
    paths: { '/api/plants': { get: { operationId: 'listPlants' } } },
  });
  const line = await runAlone('openapi', '--json');
  expect(line.stdout).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(line.stdout)).toEqual(JSON.parse(stdout));
});
