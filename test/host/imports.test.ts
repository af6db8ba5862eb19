import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pluginsUnderTest } from '../support/program';

const ROOT = path.resolve(__dirname, '../..');

/** What the linter of imports prints as JSON, so far as it matters here. */
interface Report {
  modules: { source: string; dependencies: { resolved: string }[] }[];
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

/** The imports of a project, judged by the rules of `npm run lint`. */
function lintImports(root: string, folders: readonly string[]): Report {
  const { stdout, stderr } = spawnSync(
    path.join(ROOT, 'node_modules/.bin/depcruise'),
    ['--config', path.join(ROOT, '.dependency-cruiser.js'), '--output-type', 'json', ...folders],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Report; // The linter's own format.
}

/** A file with an import that a rule forbids. */
type Violation = [rule: string, from: string, text: string, to: string];

/** The folders of src/, from the bottom up. */
const LAYERS = ['core', 'fields', 'data', 'plugins', 'calls', 'http', 'servers', 'app', 'cli'];

const VIOLATIONS: readonly Violation[] = [
  ...LAYERS.map((layer, index): Violation => {
    const above = LAYERS[index + 1];
    const to = above === undefined ? 'main' : `${above}/file`;
    const from = `src/${layer}/upwards.ts`;
    return [`imports-of-${layer}`, from, `export * from '../${to}';`, `src/${to}.ts`];
  }),
  [
    'imports-of-servers',
    'src/servers/downwards.ts',
    `export * from '../http/file';`,
    'src/http/file.ts',
  ],
  [
    'imports-of-plugins-by-the-host',
    'src/app/plugin.ts',
    `export * from '../../plugins/oak';`,
    'plugins/oak/index.ts',
  ],
  [
    'imports-of-the-host-by-plugins',
    'plugins/elm/pipeline.ts',
    `export * from '../../src/calls/file';`,
    'src/calls/file.ts',
  ],
  ...[
    `import { value } from '../oak/model'; console.log(value);`,
    `import type { Value } from '../oak/model'; export type Own = Value;`,
    `export type { Value } from '../oak/model';`,
    `export type Own = import('../oak/model').Value;`,
    `console.log(require('../oak/model'));`,
    `void import('../oak/model');`,
  ].map((text, index): Violation => {
    const from = `plugins/elm/inside${index}.ts`;
    return ['imports-of-plugins-by-others', from, text, 'plugins/oak/model.ts'];
  }),
  [
    'imports-of-plugins-by-others',
    'test/fixtures/fir/service.ts',
    `export * from '../../../plugins/oak/model';`,
    'plugins/oak/model.ts',
  ],
  [
    'cycles',
    'plugins/elm/one.ts',
    `import type { Other } from './other'; export type One = Other;`,
    'plugins/elm/other.ts',
  ],
];

const VALUE = 'export const value = 1;\nexport type Value = typeof value;\n';

const PERMITTED: readonly [file: string, text: string][] = [
  ...LAYERS.map((layer): [string, string] => [`src/${layer}/file.ts`, VALUE]),
  ['src/main.ts', `export * from './cli/file';`],
  ['src/cli/downwards.ts', `export * from '../core/file';`],
  ['src/servers/core.ts', `export * from '../core/file';`],
  ['plugins/oak/index.ts', `export * from './model';`],
  ['plugins/oak/model.ts', VALUE],
  ['plugins/oak/domain-events.ts', VALUE],
  ['plugins/elm/index.ts', `export * from '../oak';\nexport * from '../oak/domain-events';`],
  ['plugins/elm/other.ts', `import type { One } from './one'; export type Other = One;`],
  ['test/fixtures/fir/index.ts', `export * from '../../../plugins/oak';`],
  ['test/fixtures/fir/own.ts', `export * from './index';`],
  ['test/oak.test.ts', `export * from '../plugins/oak/model';`],
  ['plugins/elm/host.ts', `export * from '../../src/plugins/file';`],
];

test('the linter reports every forbidden import, of types too, and no other', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'imports-'));
  try {
    const texts = [...PERMITTED, ...VIOLATIONS.map(([, from, text]) => [from, text] as const)];
    for (const [file, text] of texts) {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), text);
    }
    const { violations } = lintImports(root, ['src', 'plugins', 'test']).summary;
    const found = violations.map(({ rule, from, to }) => `${rule.name}: ${from} imports ${to}`);
    const wanted = VIOLATIONS.map(([rule, from, , to]) => `${rule}: ${from} imports ${to}`);
    expect(found.sort()).toEqual(wanted.sort());
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('plugins import from those only that their manifests require', () => {
  const requires = new Map(pluginsUnderTest().map((plugin) => [plugin.name, plugin.requires]));
  const pluginOf = (file: string) => /^(?:plugins|test\/fixtures)\/([^/]+)\//.exec(file)?.[1];
  const sources = lintImports(ROOT, ['plugins', 'test/fixtures']).modules.filter(
    ({ source }) => !source.endsWith('.test.ts'),
  );
  const crossings = sources.flatMap(({ source, dependencies }) =>
    dependencies.flatMap(({ resolved }) => {
      const [own, other] = [pluginOf(source), pluginOf(resolved)];
      return own !== undefined && other !== undefined && own !== other
        ? [{ source, resolved, isRequired: requires.get(own)?.includes(other) }]
        : [];
    }),
  );
  expect(crossings.length).toBeGreaterThan(0);
  expect(crossings.filter(({ isRequired }) => isRequired !== true)).toEqual([]);
});
