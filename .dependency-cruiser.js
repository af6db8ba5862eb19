'use strict';

/** The folders of src/ from the bottom up: each imports only those before it. */
const LAYERS = ['core', 'fields', 'data', 'plugins', 'calls', 'http', 'servers', 'app', 'cli'];

/** Where MongoDB and Redis come from has nothing to do with the API. */
const NARROWER = { servers: ['core'] };

/** A plugin's folder; those of the tests' own plugins keep to the same rules. */
const PLUGIN = '^(?:plugins|test/fixtures)';

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
    to: { path: [...['calls', 'http', 'servers', 'app'].map(folder), '^src/[^/]+$'] },
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
    // Imports of types count.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
};
