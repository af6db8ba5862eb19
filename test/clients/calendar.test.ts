import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import ICAL from 'ical.js';
import supertest from 'supertest';

import { record, records } from '../support/client';
import { startService } from '../support/program';
import type { TestService, TestUser } from '../support/service';
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
let emptyFile: string;

beforeAll(async () => {
  service = await startService();
  folder = mkdtempSync(path.join(os.tmpdir(), 'calendars-'));
  python = await pythonWith(folder, ['icalendar==7.3.2', 'khal==0.14.1']);
  const user = await service.user({ timezone: 'UTC' });
  emptyFile = await feedOf(await service.user({ timezone: 'Europe/Berlin' }), 'empty.ics');
  const names = ['Fern', `${'🌿×é'.repeat(20)} "a", b; c\\n`, 'Ünï: \u00a0„x“'];
  for (const [index, name] of names.entries()) {
    const location = index === 1 ? 'Küche,\nlinks; oben' : undefined;
    const { id } = await user.plant({ name, location, wateringFrequencyDays: 20 + index });
    const days = [{ weekdays: ['mon', 'thu'] }, { weekdays: ['-1sat'] }, { monthDays: [31] }][
      index
    ];
    const rule = { care: 'other', label: `Mist, "${index}"; 🌿`, ...days };
    await user.post(`/api/plants/${id}/schedules`, rule).expect(201);
  }
  file = await feedOf(user, 'feed.ics');
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A file with the calendar of a user. */
async function feedOf(user: TestUser, name: string): Promise<string> {
  const { url } = bodyOf(await user.post('/api/account/calendar').expect(201));
  const feed = await supertest(service.url)
    .get(new URL(String(url)).pathname)
    .expect(200);
  writeFileSync(path.join(folder, name), feed.text);
  return path.join(folder, name);
}

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

/** Runs khal with a calendar of its own, which begins empty. */
function khalOf(name: string): (...args: string[]) => Promise<string> {
  const home = path.join(folder, name);
  const [config, calendar] = [path.join(home, 'config'), path.join(home, 'plants')];
  mkdirSync(calendar, { recursive: true });
  const sections = ['[calendars]', '[[plants]]', `path = ${calendar}`, '[sqlite]'];
  const database = `path = ${path.join(home, 'khal.db')}`;
  writeFileSync(config, [...sections, database, '[locale]', ...LOCALE, ''].join('\n'));
  return async (...args) => {
    const program = path.join(path.dirname(python), 'khal');
    const env = { ...process.env, TZ: 'UTC', LC_ALL: 'C.UTF-8' };
    return (await run(program, ['--config', config, ...args], { env })).stdout;
  };
}

test('icalendar, ical.js and khal take a calendar without events', async () => {
  const { stdout } = await run(python, [path.join(__dirname, 'calendars/read.py'), emptyFile]);
  expect(JSON.parse(stdout)).toEqual([]);
  const text = readFileSync(emptyFile, 'utf8');
  const calendar = new ICAL.Component(ICAL.parse(text) as unknown[]);
  expect(calendar.getAllSubcomponents().map(({ name }) => name)).toEqual(['vtimezone']);
  const khal = khalOf('empty');
  await khal('import', '--batch', '--include-calendar', 'plants', emptyFile);
  expect(await khal('list', 'today', `${DAYS}d`)).toBe('');
});

test('khal shows the same events as ical.js', async () => {
  const khal = khalOf('full');
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
