import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import ICAL from 'ical.js';
import supertest from 'supertest';

import { record, records } from '../support/client';
import { startService } from '../support/program';
import type { TestService } from '../support/service';
import { bodyOf } from '../support/shapes';
import { pythonWith } from './python';

const run = promisify(execFile);

const DAYS = 91;
const LOCALE = [
  ...['dateformat', 'longdateformat'].map((name) => `${name} = %Y-%m-%d`),
  ...['datetimeformat', 'longdatetimeformat'].map((name) => `${name} = %Y-%m-%d %H:%M`),
  'timeformat = %H:%M',
  'default_timezone = UTC',
  'local_timezone = UTC',
];

let service: TestService;
let folder: string;
let python: string;
let file: string;

beforeAll(async () => {
  service = await startService();
  folder = mkdtempSync(path.join(os.tmpdir(), 'calendars-'));
  python = await pythonWith(folder, ['icalendar==7.3.2', 'khal==0.14.1']);
  const user = await service.user({ timezone: 'UTC' });
  const names = ['Fern', `${'🌿×é'.repeat(20)} "a", b; c\\n`, 'Ünï: \u00a0„x“'];
  for (const [index, name] of names.entries()) {
    const location = index === 1 ? 'Küche,\nlinks; oben' : undefined;
    const { id } = await user.plant({ name, location, wateringFrequencyDays: 20 + index });
    const rule = { care: 'other', label: `Mist, "${index}"; 🌿`, weekdays: ['mon', 'thu'] };
    await user.post(`/api/plants/${id}/schedules`, rule).expect(201);
  }
  const { url } = bodyOf(await user.post('/api/account/calendar').expect(201));
  const feed = await supertest(service.url)
    .get(new URL(String(url)).pathname)
    .expect(200);
  file = path.join(folder, 'feed.ics');
  writeFileSync(file, feed.text);
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The events as ical.js reads them, in the order of the file. */
function expected() {
  const calendar = new ICAL.Component(ICAL.parse(readFileSync(file, 'utf8')) as unknown[]);
  return calendar.getAllSubcomponents('vevent').map((component) => {
    const { uid, summary, location, startDate } = new ICAL.Event(component);
    return { uid, title: summary, location, day: startDate.toString() };
  });
}

test('icalendar reads the same events as ical.js', async () => {
  const { stdout } = await run(python, [path.join(__dirname, 'calendars/read.py'), file]);
  expect(JSON.parse(stdout)).toEqual(expected());
});

test('khal shows the same events as ical.js', async () => {
  const [config, calendar] = [path.join(folder, 'config'), path.join(folder, 'plants')];
  mkdirSync(calendar);
  const sections = ['[calendars]', '[[plants]]', `path = ${calendar}`, '[sqlite]'];
  const database = `path = ${path.join(folder, 'khal.db')}`;
  writeFileSync(config, [...sections, database, '[locale]', ...LOCALE, ''].join('\n'));
  const khal = async (...args: string[]): Promise<string> => {
    const program = path.join(path.dirname(python), 'khal');
    const env = { ...process.env, TZ: 'UTC', LC_ALL: 'C.UTF-8' };
    return (await run(program, ['--config', config, ...args], { env })).stdout;
  };
  await khal('import', '--batch', '--include-calendar', 'plants', file);
  const fields = ['uid', 'title', 'location', 'start-date'].flatMap((name) => ['--json', name]);
  const events = expected();
  const listed = await khal('list', ...fields, events[0]?.day ?? '', `${DAYS}d`);
  // The output is a line of JSON for each day.
  const shown = listed
    .trim()
    .split('\n')
    .flatMap((line) => records(JSON.parse(line)));
  const seen = shown.map((each) => {
    const { uid, title, location, 'start-date': day } = record(each);
    return { uid, title, location: location === '' ? null : location, day };
  });
  const byUid = (list: readonly { uid: unknown }[]) =>
    [...list].sort((a, b) => (String(a.uid) < String(b.uid) ? -1 : 1));
  expect(byUid(seen)).toEqual(byUid(events));
});
