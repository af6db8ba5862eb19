// Signs up, signs in and does all that the settings let a person do, as they would on a phone or at a
// desk, with a passkey on a virtual device; prints what was found as JSON.
// Its arguments: URL INVITATION NAME WIDTH LANGUAGE SCHEME [SCREENSHOTS]
import { readFileSync } from 'node:fs';
import path from 'node:path';

import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

import { barriers } from './barriers.mjs';

const [url, invitation, name, width, locale, colorScheme, screenshots] = process.argv.slice(2);

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  // The package's own switch off what a browser defends.
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const viewport = { width: Number(width), height: 844 };
const context = await browser.newContext({ viewport, locale, colorScheme });
const page = await context.newPage();
page.setDefaultTimeout(60_000);
const device = await context.newCDPSession(page);
await device.send('WebAuthn.enable');
const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
  options: {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  },
});
const faults = [];
page.on('pageerror', ({ message }) => faults.push(message));
page.on('console', (said) => {
  // It says so of every page that refuses a form.
  if (said.type() === 'error' && !/status of 400/.test(said.text())) faults.push(said.text());
});

/** Looks at the page that is shown. */
async function look(what) {
  for (const found of await page.evaluate(barriers)) faults.push(`${what}: ${found}`);
  if (!screenshots) return;
  const file = `${what}-${width}-${locale}-${colorScheme}.png`;
  await page.screenshot({ path: path.join(screenshots, file), fullPage: true });
}

/** Presses Tab until something has the focus. */
async function tabTo(selector) {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The keyboard does not reach ${selector}.`);
}

/** The form of the settings that does something. */
function form(action) {
  return page.locator(`form:has(input[name=action][value=${action}])`);
}

/** Has a form that is out of the way be shown, by the keyboard. */
async function open(action) {
  await page.locator(`details:has(input[name=action][value=${action}]) summary`).focus();
  await page.keyboard.press('Enter');
}

async function statusWith(token) {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/account`, { headers })).status;
}

await page.goto(url);
await look('front');

await page.goto(invitation);
await look('invited');
await page.fill('#password', 'password12345');
await page.keyboard.press('Enter');
await page.waitForSelector('[role=alert]:focus');
await look('refused');
await tabTo('[role=alert] a');
await page.keyboard.press('Enter');
await page.waitForSelector('#password:focus');
await tabTo('[data-passkey]');
await page.keyboard.press('Enter');
await page.waitForSelector('a[href="/settings"]');
await look('signed-up');

await page.click('a[href="/settings"]');
await form('signOut').locator('button').click();
await page.waitForURL(`${url}/sign-in?return=/settings`);
await look('sign-in');
// The person turns away once: the page says so, and the button works still.
await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
await page.click('[data-passkey]');
await page.waitForSelector('[data-passkey] + [role=alert]:not([hidden])');
await look('no-passkey');
await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
await page.click('[data-passkey]');
await page.waitForURL(`${url}/settings`);
await look('settings');

await open('makeToken');
await tabTo('#token-name');
await page.keyboard.type('Phone');
await look('make-token');
await page.keyboard.press('Enter');
await page.waitForSelector('#token:focus');
await look('token');
const token = await page.textContent('#token');
const before = await statusWith(token);
await form('revokeToken').locator('button').click();
await page.waitForURL(/done=tokenRevoked/);
await look('revoked');
const after = await statusWith(token);

await form('removePasskey').locator('button').click();
await page.waitForSelector('[role=alert]:focus');
await open('setPassword');
await page.fill('#password', 'seven green ferns');
await page.keyboard.press('Enter');
await page.waitForURL(/done=passwordSet/);
await form('removePasskey').locator('button').click();
await page.waitForURL(/done=passkeyRemoved/);
await form('addPasskey').locator('button').click();
await page.waitForURL(/done=passkeyAdded/);
await look('ways');

const download = page.waitForEvent('download');
await form('export').locator('button').click();
const exported = JSON.parse(readFileSync(await (await download).path(), 'utf8'));

await open('delete');
await page.fill('#confirm', 'somebody else');
await page.keyboard.press('Enter');
await page.waitForSelector('[role=alert]:focus');
await page.fill('#confirm', name);
await look('delete');
await page.keyboard.press('Enter');
await page.waitForSelector('main:not(:has(form))');
await look('deleted');
await page.goto(`${url}/settings`);
const isOut = new URL(page.url()).pathname === '/sign-in';
const language = await page.getAttribute('html', 'lang');
await browser.close();
console.log(JSON.stringify({ before, after, exported, isOut, language, faults }));
