import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const PACKAGE_FILE = path.resolve(__dirname, '../../package.json');
const requireInstalled = createRequire(PACKAGE_FILE);

/** What a dependency of `swagger-ui-dist` runs to tell its maker of an installation. */
interface Reporter {
  /** Decides by the tree that npm prints whether there is something to tell, and of which package. */
  processDependencyTreeOutput: (
    report: (about: unknown) => void,
    refuse: (reason: Error) => void,
  ) => (error: null, stdout: string) => void;
}

/** Why an installation of a package with these settings is told to nobody. */
function refusalOf(settings: object): Promise<string> {
  // As its version in package-lock.json exports it.
  const reporter = requireInstalled('@scarf/scarf/report.js') as Reporter;
  const scarf = { name: '@scarf/scarf', version: '1.4.0', path: '' };
  const parent = { name: 'swagger-ui-dist', version: '5.35.0', path: '' };
  const tree = {
    ...{ name: 'plant-care-api', version: '1.0.0', path: '', ...settings },
    dependencies: {
      'swagger-ui-dist': { ...parent, dependencies: { '@scarf/scarf': scarf } },
    },
  };
  return new Promise((resolve) => {
    reporter.processDependencyTreeOutput(
      () => {
        resolve('');
      },
      ({ message }) => {
        resolve(message);
      },
    )(null, JSON.stringify(tree));
  });
}

test('an installation is reported to nobody, though a dependency would', async () => {
  const { scarfSettings } = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as {
    scarfSettings?: object; // What else it is, the reporter refuses.
  };
  expect(await refusalOf({})).toBe('');
  expect(await refusalOf({ scarfSettings })).toContain('disabled via a package.json');
});
