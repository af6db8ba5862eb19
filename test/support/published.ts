import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import pino from 'pino';

import { openApiDocument } from '../../plugins/docs/openapi/document';
import { ToolCatalog } from '../../plugins/mcp/tools/catalog';
import { App } from '../../src/app/app';
import { PROJECT_FOLDER } from '../../src/core/settings/project';
import { loadPlugins } from '../../src/plugins/loader';

/** The last release; `make release` replaces it. */
const FILE = path.join(PROJECT_FOLDER, 'test/contract/released.json.gz');

export interface ObjectSchema {
  properties?: object | undefined;
  required?: readonly string[] | undefined;
}

/** What later releases keep: docs/compatibility.md, "What a major release keeps". */
export interface Published {
  openapi: { paths: object };
  tools: { name: string; inputSchema: ObjectSchema }[];
  /** Hashes of the files of migrations, by id; null for one that a release no longer runs. */
  migrations: Record<string, string | null>;
}

export function released(): Published {
  return JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as Published; // What keep() wrote.
}

export function keep(): void {
  writeFileSync(FILE, gzipSync(JSON.stringify(published())));
}

export function published(): Published {
  const plugins = loadPlugins();
  const app = new App({ plugins, env: {}, log: pino({ level: 'silent' }) });
  const tools = new ToolCatalog(app.operations).definitionsFor(new Set(app.scopes.keys()));
  return {
    openapi: openApiDocument(app.description) as { paths: object }, // As OpenAPI has it.
    tools,
    migrations: Object.fromEntries(
      plugins.flatMap((plugin) =>
        (plugin.migrations ?? []).map((migration) => [
          `${plugin.name}/${migration.name}`,
          migration.run ? hashOf(`plugins/${plugin.name}/migrations/${migration.name}.ts`) : null,
        ]),
      ),
    ),
  };
}

function hashOf(name: string): string {
  const content = readFileSync(path.join(PROJECT_FOLDER, name));
  return createHash('sha256').update(content).digest('hex');
}
