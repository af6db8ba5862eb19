import { execFileSync } from 'node:child_process';

import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

import { startService, type TestService } from '../../test/support/service';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

interface Document {
  paths: Record<string, Record<string, unknown>>;
}

async function openApi(): Promise<Document> {
  const response = await service.anonymous.get('/openapi.json').expect(200);
  return response.body as Document;
}

test('the OpenAPI document is a valid one of version 3.1', async () => {
  // The validator is an ES module, which Jest does not load.
  const script = `import { readFileSync } from 'node:fs';
    import { Validator } from '@seriousme/openapi-schema-validator';
    const document = JSON.parse(readFileSync(0, 'utf8'));
    console.log(JSON.stringify(await new Validator().validate(document)));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    input: JSON.stringify(await openApi()),
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual({ valid: true });
});

test('every operation is in the document, and no schema of it is broken', async () => {
  const { paths } = await openApi();
  for (const operation of service.app.operations) {
    expect(paths[operation.path]).toHaveProperty(operation.method.toLowerCase());
  }
  for (const { path, methods } of service.app.transports) {
    for (const method of Object.keys(methods)) {
      expect(paths[path]).toHaveProperty(method.toLowerCase());
    }
  }
  const ajv = addFormats(new Ajv2020({ strict: false }));
  const schemas: object[] = [];
  JSON.stringify(paths, (key, value: unknown) => {
    if (key === 'schema' && typeof value === 'object' && value && !('$ref' in value)) {
      schemas.push(value);
    }
    return value;
  });
  expect(schemas.length).toBeGreaterThan(20);
  for (const schema of schemas) expect(() => ajv.compile(schema)).not.toThrow();
});

test('the page and all that it loads come from the service itself', async () => {
  const page = await service.anonymous
    .get('/docs')
    .expect(200)
    .expect('Content-Type', /text\/html/);
  expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
  expect(files).toHaveLength(3);
  for (const file of files) await service.anonymous.get(file).expect(200);
  await service.anonymous.get('/docs/package.json').expect(404);
});
