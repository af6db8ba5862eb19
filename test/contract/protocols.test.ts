import { startService } from '../support/program';
import type { TestService } from '../support/service';
import { openApiDocument } from '../../plugins/docs/openapi/document';

let service: TestService;
beforeAll(async () => {
  service = await startService({ env: { METRICS_TOKEN: 'x'.repeat(16) } });
});
// Closing it compares every status and header with the document.
afterAll(() => service.close());

/** Refusals that depend on the request alone. */
const REFUSALS = ['401', '404', '413', '415'];
/** The tool endpoint refuses with 404 only what another version of the protocol had. */
const ELSEWHERE = ['POST /api/mcp 404'];

test('every refusal in the document of a protocol endpoint is sent', async () => {
  const { token } = await service.user();
  const { description } = service.app;
  // It was just created as such.
  const { paths } = openApiDocument(description) as unknown as {
    paths: Record<string, Record<string, { responses: object }>>;
  };
  const unsent: string[] = [];
  for (const { path, methods } of description.protocols) {
    for (const method of Object.keys(methods)) {
      const url = service.url + path.replace(/\{\w+\}/g, 'none');
      const seen = new Set<number>();
      const send = async (headers: Record<string, string>, body?: string): Promise<void> => {
        const options = { method, headers, redirect: 'manual' as const };
        const answer = await fetch(url, {
          ...options,
          ...(method === 'POST' && { body: body ?? '' }),
        });
        await answer.text();
        seen.add(answer.status);
      };
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      await send({});
      await send(form, 'client_id=nobody&grant_type=refresh_token&refresh_token=x&token=x');
      await send(form, `name=${'x'.repeat(20_000)}`);
      const own = { Authorization: `Bearer ${token}` };
      await send({ ...own, 'Content-Type': 'text/plain' }, 'x');
      await send({ ...own, 'Content-Type': 'application/json' }, `"${'x'.repeat(3_000_000)}"`);
      // It names no origin of ours.
      const elsewhere = service.anonymous[method === 'GET' ? 'get' : 'post'](new URL(url).pathname);
      seen.add((await elsewhere.set('Host', 'elsewhere.example')).status);
      const declared = Object.keys(paths[path]?.[method.toLowerCase()]?.responses ?? {});
      const missing = declared.filter((each) => REFUSALS.includes(each) && !seen.has(Number(each)));
      unsent.push(...missing.map((status) => `${method} ${path} ${status}`));
    }
  }
  expect(unsent.filter((each) => !ELSEWHERE.includes(each))).toEqual([]);
});
