// Looks after a garden as a person would, with the keyboard alone, on a phone or at a desk; prints what was
// found as JSON.
// Its arguments: URL INVITATION WIDTH LANGUAGE SCHEME [SCREENSHOTS]
import path from 'node:path';

import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

import { barriers } from './barriers.mjs';

const [url, invitation, width, locale, colorScheme, screenshots] = process.argv.slice(2);

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  // The package's own switch off what a browser defends.
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const viewport = { width: Number(width), height: 844 };
const context = await browser.newContext({ viewport, locale, colorScheme });
await context.route('https://images.example.com/**', (route) =>
  route.fulfill({ contentType: 'image/svg+xml', body: PHOTO }),
);
const page = await context.newPage();
page.setDefaultTimeout(60_000);
const faults = [];
page.on('pageerror', ({ message }) => faults.push(message));
page.on('console', (said) => {
  if (said.type() === 'error') faults.push(said.text());
});

const PHOTO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><path fill="#3f9c5a" d="M0 0h4v3H0z"/></svg>`;

/** Looks at the page that is shown. */
async function look(what) {
  for (const found of await page.evaluate(barriers)) faults.push(`${what}: ${found}`);
  if (!screenshots) return;
  const file = `garden-${what}-${width}-${locale}-${colorScheme}.png`;
  await page.screenshot({ path: path.join(screenshots, file), fullPage: true });
}

/** Presses Tab until something has the focus, and then Enter; waits for the page to which it leads. */
async function press(selector, tab = 'Tab') {
  const from = page.url();
  for (let presses = 0; presses < 60; presses += 1) {
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) {
      await page.keyboard.press('Enter');
      await page.waitForURL(({ href }) => href !== from);
      return;
    }
    await page.keyboard.press(tab);
  }
  throw new Error(`The keyboard does not reach ${selector}.`);
}

/** What just happened, and how many pixels below the top of the window it is said. */
async function news() {
  const place = page.locator('#news');
  await place.waitFor();
  const { y } = await place.boundingBox();
  if (y < 0 || y > viewport.height - 60) faults.push(`news are at ${y} pixels`);
  return place.locator('div').textContent();
}

await page.goto(`${url}${invitation}`);
await page.fill('#password', 'seven green ferns');
await page.keyboard.press('Enter');
await page.waitForSelector('a[href="/settings"]');

await page.goto(`${url}/garden`);
await look('due');
const loaded = await page.$$eval('.thumb img', (all) => all.map((each) => each.complete));
await press('button[value=done]:not([aria-label=""])[aria-label]');
const done = await news();
const title = await page.title();
await look('done');
await press('#news button');
const undone = await news();
await look('undone');
await press('button[value=snooze]');
const later = await news();

// Two clicks before the next page is there.
const due = page.locator('button[value=done][aria-label]');
const before = await due.count();
await due.first().dblclick();
await page.waitForURL(/did=/);
const after = await due.count();

// Back to the top, and from there past all that is due.
await press('nav a[href="/garden#plants"]', 'Shift+Tab');
await press('.plant a');
await look('plant');
const pictures = await page.$$eval('figcaption', (all) => all.map((each) => each.textContent));
const tree = await page.locator('body').ariaSnapshot();
await browser.close();
console.log(
  JSON.stringify({ loaded, done, title, undone, later, before, after, pictures, tree, faults }),
);
