// Tries an operation out on the page of the API, as a person would; prints what was found as JSON.
// Its arguments: URL TOKEN WIDTH HEIGHT [SCREENSHOTS]
import path from 'node:path';

import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

const [url, token, width, height, screenshots] = process.argv.slice(2);
const RESOURCE = '#operations-tag-Plants';
const OPERATION = '#operations-Plants-listLocations';

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args,
});
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
page.setDefaultTimeout(60_000);
const faults = [];
page.on('pageerror', ({ message }) => faults.push(message));
page.on('console', (said) => {
  if (said.type() === 'error') faults.push(said.text());
});

async function screenshot(name) {
  if (screenshots) await page.screenshot({ path: path.join(screenshots, `${name}-${width}.png`) });
}

await page.goto(`${url}/docs`);
const description = await page.textContent('.info .description');
/** The width in pixels of the narrowest description of a resource. */
const narrowest = await page.$$eval('.opblock-tag small', (all) =>
  Math.min(...all.map(({ clientWidth }) => clientWidth)),
);
const resources = await page.$$eval('.opblock-tag', (all) => all.map(({ dataset }) => dataset.tag));
const server = await page.textContent('.servers option');
await screenshot('top');
await page.click('.scheme-container .authorize');
await page.fill('.auth-container input', token);
await page.click('.auth-btn-wrapper .authorize');
await page.click('.auth-btn-wrapper .btn-done');
await page.click(RESOURCE);
await page.click(`${OPERATION} .opblock-summary-control`);
await page.click(`${OPERATION} .try-out__btn`);
await page.click(`${OPERATION} .execute`);
const answer = await page.textContent(`${OPERATION} .live-responses-table tr.response`);
const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
await page.locator(`${OPERATION} .live-responses-table`).scrollIntoViewIfNeeded();
await screenshot('answer');
await browser.close();
console.log(
  JSON.stringify({ description, answer, overflow, narrowest, resources, server, faults }),
);
