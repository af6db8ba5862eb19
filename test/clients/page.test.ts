import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startService } from '../support/program';

const run = promisify(execFile);

/** A browser has to be fetched first: `make test-clients`. */
const testBrowser = process.env['TEST_CLIENTS'] === undefined ? test.skip : test;

const PACKAGES = ['@sparticuz/chromium@143.0.4', 'playwright-core@1.65.1'];

/** What a person found on the page. */
interface Visit {
  description: string;
  answer: string;
  /** By how many pixels the page is wider than the window. */
  overflow: number;
  /** What the page or the browser complained of. */
  faults: string[];
}

testBrowser(
  'the page opens with how to call, and tries operations out, on a desktop and on a phone',
  async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'browser-'));
    const service = await startService();
    try {
      const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--silent'];
      await run('npm', [...install, ...PACKAGES]);
      const script = path.join(folder, 'browse.mjs');
      copyFileSync(path.join(__dirname, 'browse.mjs'), script);
      const user = await service.user();
      await user.plant({ location: 'Hall' });
      for (const size of [
        ['1280', '900'],
        ['390', '844'],
      ]) {
        const screenshots = process.env['SCREENSHOTS'] ?? '';
        const visit = [script, service.url, user.token, ...size, screenshots];
        const { stdout } = await run(process.execPath, visit);
        const { description, answer, overflow, faults } = JSON.parse(stdout) as Visit;
        expect(faults).toEqual([]);
        expect(description).toMatch(/Paging[^]*Retrying[^]*Limits/);
        expect(answer).toMatch(/^200[^]*Hall/);
        expect(overflow).toBeLessThanOrEqual(0);
      }
    } finally {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  300_000,
);
