import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { startService } from '../support/program';

const run = promisify(execFile);

/** Drives a browser, which `make test-clients` installs. */
const BROWSE = path.join(__dirname, 'browse.mjs');

/** The findings about the page. */
interface Visit {
  description: string;
  answer: string;
  /** How many pixels the page is wider than the window. */
  overflow: number;
  /** How many pixels wide the narrowest description of a resource is. */
  narrowest: number;
  /** The names of the resources that the page has at first. */
  resources: string[];
  /** The server that the page calls. */
  server: string;
  /** Errors of the page or the browser. */
  faults: string[];
}

test('the page starts with the resources and can try operations out, on a desktop and on a phone', async () => {
  const service = await startService();
  try {
    const user = await service.user();
    await user.plant({ location: 'Hall' });
    const { tags } = (await user.get('/openapi.json')).body as { tags: { name: string }[] };
    for (const size of [
      ['1280', '900'],
      ['390', '844'],
    ]) {
      const screenshots = process.env['SCREENSHOTS'] ?? '';
      const visit = [BROWSE, service.url, user.token, ...size, screenshots];
      const { stdout } = await run(process.execPath, visit);
      const found = JSON.parse(stdout) as Visit;
      const { description, answer, overflow, narrowest, server, faults } = found;
      expect(faults).toEqual([]);
      expect(description).toMatch(/^Stores [^]*rules for all requests[^]*guide/);
      expect(description.length).toBeLessThan(300);
      expect(answer).toMatch(/^200[^]*Hall/);
      expect(found.resources).toEqual(tags.map(({ name }) => name));
      expect(narrowest).toBeGreaterThan(250);
      expect(server.trim()).toBe(service.url);
      expect(overflow).toBeLessThanOrEqual(0);
    }
  } finally {
    await service.close();
  }
});
