import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { loadPlugins, loadServerPlugins, LoaderError } from '../../src/plugins/loader';
import { manifest, pluginFolder } from './plugin-folder';

/** The faults that the loader reports for a folder. */
function refusal(folder: string): string {
  try {
    loadPlugins(folder);
  } catch (error) {
    if (error instanceof LoaderError) return error.message;
    throw error;
  }
  throw new Error('The loader refused nothing.');
}

function refusalOf(modules: Readonly<Record<string, string>>): string {
  return refusal(pluginFolder(modules));
}

/** The source of a model in a manifest. */
function model(name: string, collection: string, index = ''): string {
  return `{ name: '${name}', owner: 'account',
    schema: new Schema({}, { collection: '${collection}' })${index} }`;
}

describe('a single manifest', () => {
  test.each([
    [
      'a missing list of requirements',
      'requires: undefined',
      'plugins/herbs: manifest: requires is required',
    ],
    ['a missing setup', 'setup: undefined', 'plugins/herbs: manifest: setup is required'],
    ['a missing name', 'name: undefined', 'plugins/herbs: manifest: name is required'],
    [
      'a plugin that it requires twice',
      "requires: ['pots', 'pots']",
      'plugins/herbs: manifest: requires[1] contains a duplicate value',
    ],
    [
      'a name that is not that of its folder',
      "name: 'spices'",
      'plugins/herbs: manifest: name is spices, but must be that of its folder',
    ],
    [
      'a model whose schema names no collection',
      "models: [{ name: 'Herb', owner: 'account', schema: new Schema({}) }]",
      'plugins/herbs: model Herb: its schema must name its collection',
    ],
    [
      'an index on user data that does not lead with userId',
      `models: [${model('Herb', 'herbs', '.index({ userId: 1, name: 1 }).index({ name: 1, userId: 1 })')}]`,
      'plugins/herbs: model Herb: the index on name, userId must lead with userId',
    ],
    [
      'an index on user data that a single field asks for',
      `models: [{ name: 'Herb', owner: 'account',
        schema: new Schema({ name: { type: String, index: true } }, { collection: 'herbs' }) }]`,
      'plugins/herbs: model Herb: the index on name must lead with userId',
    ],
  ])('%s is refused with folder and key', (_, properties, message) => {
    expect(refusalOf({ herbs: manifest('herbs', properties) })).toBe(message);
  });

  test('an index on shared data may start with any field', () => {
    const folder = pluginFolder({
      herbs: manifest(
        'herbs',
        `models: [{ name: 'Herb', owner: { shared: 'the same for everybody' },
          schema: new Schema({}, { collection: 'herbs' }).index({ name: 1 }) }]`,
      ),
    });
    expect(loadPlugins(folder).map(({ name }) => name)).toEqual(['herbs']);
  });

  test.each([
    ['does not parse', 'exports.default = {', /^plugins\/herbs: cannot be loaded: ./],
    ['throws', "throw new Error('No luck.');", /^plugins\/herbs: cannot be loaded: No luck$/],
    [
      'exports no manifest',
      'exports.manifest = {};',
      /^plugins\/herbs: manifest: value is required$/,
    ],
    [
      'exports no object',
      'exports.default = 7;',
      /^plugins\/herbs: manifest: value must be of type object$/,
    ],
  ])('a folder whose module %s is refused with its name', (_, text, message) => {
    expect(refusalOf({ herbs: text })).toMatch(message);
  });

  test('a folder without a module is refused, not skipped', () => {
    const folder = pluginFolder({ herbs: manifest('herbs') });
    mkdirSync(path.join(folder, 'spices'));
    expect(refusal(folder)).toMatch(/^plugins\/spices: cannot be loaded: .*Cannot find module/);
  });

  test('a folder that is a symbolic link is a plugin like any other', () => {
    const elsewhere = pluginFolder({ herbs: manifest('herbs') });
    const folder = pluginFolder({});
    symlinkSync(path.join(elsewhere, 'herbs'), path.join(folder, 'herbs'));
    writeFileSync(path.join(folder, 'notes.txt'), 'Not a plugin.');
    expect(loadPlugins(folder).map(({ name }) => name)).toEqual(['herbs']);
  });

  test('a server never loads a plugin with cli instead of index', () => {
    const folder = pluginFolder({ herbs: manifest('herbs') });
    mkdirSync(path.join(folder, 'spices'));
    writeFileSync(path.join(folder, 'spices', 'cli.js'), "throw new Error('Loaded.');");
    expect(loadServerPlugins(folder).map(({ name }) => name)).toEqual(['herbs']);
    expect(refusal(folder)).toBe('plugins/spices: cannot be loaded: Loaded');
    expect(loadServerPlugins().map(({ name }) => name)).not.toContain('demo');
  });

  test('the faults of all plugins are reported, one per line', () => {
    const message = refusalOf({
      herbs: manifest('herbs', 'requires: undefined'),
      pots: manifest('pots', 'setup: undefined'),
    });
    expect(message.split('\n')).toEqual([
      'plugins/herbs: manifest: requires is required',
      'plugins/pots: manifest: setup is required',
    ]);
  });
});

describe('declarations of two plugins', () => {
  test.each([
    ['a scope', "scopes: { 'herbs:read': 'Read herbs' }", 'scope herbs:read'],
    ['a setting', "settings: [countSetting('HERBS_MAX', 5, 'Herbs')]", 'setting HERBS_MAX'],
    [
      'an error code',
      "errors: [new ErrorCode('herb_lost', 404, 'It is lost.')]",
      'error code herb_lost',
    ],
  ])('%s is refused with both folders', (_, properties, thing) => {
    const modules = { one: manifest('one', properties), two: manifest('two', properties) };
    expect(refusalOf(modules)).toBe(`plugins/two: the ${thing} is already declared by plugins/one`);
  });

  test('a rate budget is refused, and so is its setting', () => {
    const budgets = "budgets: { herbs: rateSetting('HERB_RATE', 5, 'Herbs') }";
    const modules = { one: manifest('one', budgets), two: manifest('two', budgets) };
    expect(refusalOf(modules).split('\n')).toEqual([
      'plugins/two: the setting HERB_RATE is already declared by plugins/one',
      'plugins/two: the budget herbs is already declared by plugins/one',
    ]);
  });

  test('a quota is refused, and so is its setting', () => {
    const quotas = `quotas: { herbs: {
      limits: { free: countSetting('A', 1, 'a'), pro: countSetting('B', 1, 'b') },
      error: new ErrorCode('herb_limit', 403, 'Too many.') } }`;
    const modules = { one: manifest('one', quotas), two: manifest('two', quotas) };
    expect(refusalOf(modules).split('\n')).toEqual([
      'plugins/two: the setting A is already declared by plugins/one',
      'plugins/two: the setting B is already declared by plugins/one',
      'plugins/two: the quota herbs is already declared by plugins/one',
    ]);
  });

  test('a model name is refused even if the collections differ', () => {
    const modules = {
      one: manifest('one', `models: [${model('Herb', 'herbs')}]`),
      two: manifest('two', `models: [${model('Herb', 'spices')}]`),
    };
    expect(refusalOf(modules)).toBe(
      'plugins/two: the model Herb is already declared by plugins/one',
    );
  });

  test('a collection name is refused even if the models differ', () => {
    const modules = {
      one: manifest('one', `models: [${model('Herb', 'herbs')}]`),
      two: manifest('two', `models: [${model('Spice', 'herbs')}]`),
    };
    expect(refusalOf(modules)).toBe(
      'plugins/two: the collection herbs is already declared by plugins/one',
    );
  });

  test('a plugin name is refused in different plugin folders', () => {
    const folders = [1, 2].map(() => pluginFolder({ herbs: manifest('herbs') }));
    expect(() => loadPlugins(...folders)).toThrow(
      'plugins/herbs: the plugin herbs is already declared by plugins/herbs',
    );
  });

  test('a plugin name is refused if it is not that of its folder', () => {
    const modules = { one: manifest('one'), two: manifest('one') };
    expect(refusalOf(modules)).toBe(
      'plugins/two: manifest: name is one, but must be that of its folder',
    );
  });
});

describe('declarations of the host', () => {
  test.each([
    ['a setting', "settings: [countSetting('PORT', 5, 'Herbs')]", 'setting PORT'],
    ['a rate budget', "budgets: { reads: rateSetting('HERB_RATE', 5, 'Herbs') }", 'budget reads'],
    [
      'the rate budget of failed authentications',
      "budgets: { 'auth-failures': rateSetting('HERB_RATE', 5, 'Herbs') }",
      'budget auth-failures',
    ],
    [
      'an error code',
      "errors: [new ErrorCode('not_found', 404, 'It is lost.')]",
      'error code not_found',
    ],
    ['a model', `models: [${model('IdempotencyKey', 'herbs')}]`, 'model IdempotencyKey'],
    ['a collection', `models: [${model('Herb', 'keptAnswers')}]`, 'collection keptAnswers'],
  ])('%s is refused to plugins', (_, properties, thing) => {
    expect(refusalOf({ herbs: manifest('herbs', properties) })).toBe(
      `plugins/herbs: the ${thing} is already declared by src`,
    );
  });
});

describe('requirements', () => {
  test('a missing required plugin is refused with its name', () => {
    expect(refusalOf({ herbs: manifest('herbs', "requires: ['pots']") })).toBe(
      'plugins/herbs: requires: there is no plugin pots',
    );
  });

  test('a cycle is refused with the names in it', () => {
    const modules = {
      one: manifest('one', "requires: ['three']"),
      two: manifest('two', "requires: ['one']"),
      behind: manifest('behind', "requires: ['two']"),
      three: manifest('three', "requires: ['two']"),
      apart: manifest('apart'),
    };
    expect(refusalOf(modules)).toBe('plugins/one, three, two: require each other in a cycle');
  });

  test('a plugin that requires itself is refused as a cycle', () => {
    expect(refusalOf({ herbs: manifest('herbs', "requires: ['herbs']") })).toBe(
      'plugins/herbs: require each other in a cycle',
    );
  });

  test('a plugin may require one in another plugin folder', () => {
    const far = pluginFolder({ pots: manifest('pots') });
    const near = pluginFolder({ herbs: manifest('herbs', "requires: ['pots']") });
    expect(loadPlugins(near, far).map(({ name }) => name)).toEqual(['pots', 'herbs']);
  });

  test('the order follows requirements, not folder names', () => {
    const modules = {
      alpha: manifest('alpha', "requires: ['zulu', 'mike']"),
      bravo: manifest('bravo', "requires: ['alpha']"),
      mike: manifest('mike', "requires: ['zulu']"),
      zulu: manifest('zulu'),
    };
    const order = loadPlugins(pluginFolder(modules)).map(({ name }) => name);
    expect(order).toEqual(['zulu', 'mike', 'alpha', 'bravo']);
  });
});
