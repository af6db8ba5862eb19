'use strict';

const { existsSync, readdirSync, readFileSync } = require('node:fs');
const path = require('node:path');

/** The folders of src/ from the bottom up: each imports only those before it. */
const LAYERS = ['core', 'fields', 'data', 'plugins', 'middleware', 'http', 'servers', 'app', 'cli'];

/** Where MongoDB and Redis come from has nothing to do with the API. */
const NARROWER = { servers: ['core'] };

/** The folders of plugins; the tests' own plugins keep to the same rules. */
const PLUGIN_FOLDERS = ['plugins', 'test/fixtures'];
const PLUGIN = `^(?:${PLUGIN_FOLDERS.join('|')})`;

/** Each plugin's folder, and what its manifest requires. */
const requirements = PLUGIN_FOLDERS.flatMap((folder) =>
  readdirSync(path.join(__dirname, folder)).map((name) => {
    const entries = ['index.ts', 'cli.ts'].map((file) => path.join(__dirname, folder, name, file));
    const manifest = readFileSync(entries.find(existsSync), 'utf8');
    const [, required] = /requires: \[([^\]]*)\]/.exec(manifest);
    return { plugin: `${folder}/${name}`, names: [name, ...(required.match(/[\w-]+/g) ?? [])] };
  }),
);

const folder = (layer) => `^src/${layer}/`;

/** What docs/architecture.md says of who may import whom. */
const forbidden = [
  ...LAYERS.map((layer, index) => {
    const below = NARROWER[layer] ?? LAYERS.slice(0, index);
    return {
      name: `imports-of-${layer}`,
      comment: `src/${layer}/ imports of src/ only itself and ${below.join(', ') || 'nothing else'}.`,
      from: { path: folder(layer) },
      to: { path: '^src/', pathNot: [layer, ...below].map(folder) },
    };
  }),
  {
    name: 'imports-of-plugins-by-the-host',
    comment: 'src/ imports no plugin: the loader finds them.',
    from: { path: '^src/' },
    to: { path: `${PLUGIN}/` },
  },
  {
    name: 'imports-of-the-host-by-plugins',
    comment: 'A plugin gets what it needs of the running program as its Host, by no import.',
    from: { path: `${PLUGIN}/` },
    to: { path: [...['middleware', 'http', 'servers', 'app'].map(folder), '^src/[^/]+$'] },
  },
  {
    name: 'imports-of-plugins-by-others',
    comment: 'Of another plugin only its index.ts and its domain-events.ts are imported.',
    from: { path: `${PLUGIN}/([^/]+)/` },
    to: {
      path: `${PLUGIN}/[^/]+/`,
      pathNot: [`${PLUGIN}/$1/`, `${PLUGIN}/[^/]+/(index|domain-events)[.]ts$`],
    },
  },
  ...requirements.map(({ plugin, names }) => ({
    name: 'imports-of-plugins-without-requiring-them',
    comment: 'A plugin imports only of those that its manifest requires.',
    from: { path: `^${plugin}/`, pathNot: '[.]test[.]ts$' },
    to: { path: `${PLUGIN}/`, pathNot: names.map((name) => `${PLUGIN}/${name}/`) },
  })),
  {
    name: 'imports-of-examples',
    comment: 'An example stands alone, as in the program of somebody else.',
    from: { path: '^examples/([^/]+)/' },
    to: { pathNot: '^examples/$1/', dependencyTypesNot: ['core'] },
  },
  {
    name: 'cycles',
    comment: 'Files do not import each other in a cycle, types included.',
    from: {},
    to: { circular: true },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: forbidden.map((rule) => ({ ...rule, severity: 'error' })),
  options: {
    // TypeScript 7 lets no other program use its parser. Imports of types count with this one too.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
  },
};
