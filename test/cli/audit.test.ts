import { runAlone } from './run';

test('audit routes lists all operations in 120 columns, public ones first', async () => {
  const { code, stdout, stderr } = await runAlone('audit', 'routes');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n');
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  const accesses = lines.flatMap(
    (line) => /^[A-Z]+ \/\S* +\S+ +(public|any token|\w+:\w+) /.exec(line)?.[1] ?? [],
  );
  const ranks = accesses
    .map((access) => ['public', 'any token'].indexOf(access))
    .map((rank) => (rank < 0 ? 2 : rank));
  expect(ranks).toEqual([...ranks].sort());
  expect(new Set(ranks)).toEqual(new Set([0, 1, 2]));
  expect(stdout).toMatch(
    /^POST \/api\/plants +garden +plants:write +plants +plants +\d+ +create_plant .* plants$/m,
  );
  expect(stdout).toMatch(/^tokens +accounts +shared +hash +unique$/m);
});

test('audit routes --json has the reasons for public access, and the collections of each call', async () => {
  const { code, stdout } = await runAlone('audit', 'routes', '--json');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^[^\n]+\n$/);
  const { endpoints } = JSON.parse(stdout) as { endpoints: { method: string; path: string }[] };
  const found = (method: string, path: string) =>
    endpoints.find((each) => each.method === method && each.path === path);
  expect(found('GET', '/api/mcp')).toMatchObject({
    access: { public: expect.any(String) as string },
    collections: [],
  });
  expect(found('GET', '/api/plants')).toMatchObject({
    collections: ['accounts', 'deletions', 'members', 'photos', 'plants', 'tokens'],
  });
  expect(found('POST', '/api/photos')).toMatchObject({
    operation: { quota: 'photos', request: { body: { required: expect.any(Array) as string[] } } },
  });
});
