// Has a browser remind a person, at a push service that this program plays; prints what was found as JSON.
// Its arguments: URL INVITATION WIDTH LANGUAGE SCHEME [SCREENSHOTS]
import path from 'node:path';

import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

import { barriers } from './barriers.mjs';

const [url, invitation, width, locale, colorScheme, screenshots] = process.argv.slice(2);
const MESSAGE = {
  web_push: 8030,
  notification: {
    title: 'A plant needs care',
    body: 'Fern',
    lang: 'en',
    navigate: `${url}/garden`,
  },
};

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const options = { viewport: { width: Number(width), height: 844 }, locale, colorScheme };
const context = await browser.newContext(options);
const page = await context.newPage();
page.setDefaultTimeout(60_000);
const faults = [];
page.on('pageerror', ({ message }) => faults.push(message));
page.on('console', (said) => {
  if (said.type() === 'error') faults.push(said.text());
});

/** Browsers of tests reach no push service. */
await page.addInitScript(() => {
  const encoded = (bytes) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  const kept = () => {
    const made = localStorage.getItem('subscription');
    const unsubscribe = async () => localStorage.removeItem('subscription');
    return made === null ? null : { toJSON: () => JSON.parse(made), unsubscribe };
  };
  PushManager.prototype.getSubscription = async () => kept();
  PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
    if (!userVisibleOnly || applicationServerKey.length !== 87) throw new Error('wrong options');
    const curve = { name: 'ECDH', namedCurve: 'P-256' };
    const { publicKey } = await crypto.subtle.generateKey(curve, false, ['deriveBits']);
    const p256dh = encoded(await crypto.subtle.exportKey('raw', publicKey));
    const auth = encoded(crypto.getRandomValues(new Uint8Array(16)));
    const made = { endpoint: 'https://push.example.com/1', expirationTime: null };
    localStorage.setItem('subscription', JSON.stringify({ ...made, keys: { p256dh, auth } }));
    return kept();
  };
});

/** What the page says about this device. */
async function look(what) {
  await page.waitForSelector('#device:not([hidden])');
  for (const found of await page.evaluate(barriers)) faults.push(`${what}: ${found}`);
  if (screenshots) {
    const file = `device-${what}-${width}-${locale}-${colorScheme}.png`;
    await page.screenshot({ path: path.join(screenshots, file) });
  }
  return (await page.locator('#device').innerText()).replaceAll(/\s+/g, ' ').trim();
}

await page.goto(`${url}${invitation}`);
await page.fill('#password', 'seven green ferns');
await page.keyboard.press('Enter');
await page.waitForSelector('a[href="/settings"]');
await page.goto(`${url}/garden`);
const before = await look('before');

// The browser asks, and is told no.
await context.clearPermissions();
await page.focus('#device form button');
await page.keyboard.press('Enter');
await page.waitForSelector('#device .fault:not([hidden])');
const refused = await look('refused');

await context.grantPermissions(['notifications']);
await page.keyboard.press('Enter');
await page.waitForURL(/#device$/);
const on = await look('on');
const focused = await page.evaluate('document.activeElement.id');

// Browsers of tests show no notifications either.
const [worker] = context.serviceWorkers();
await worker.evaluate(() => {
  registration.showNotification = async (title, { body, data }) => {
    globalThis.notification = { title, body, data };
  };
  clients.openWindow = async (opened) => {
    globalThis.notification.opened = opened;
  };
});
const devtools = await context.newCDPSession(page);
const registered = new Promise((resolve) => {
  devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [first] }) => {
    if (first) resolve(first.registrationId);
  });
});
await devtools.send('ServiceWorker.enable');
const message = { origin: url, registrationId: await registered, data: JSON.stringify(MESSAGE) };
await devtools.send('ServiceWorker.deliverPushMessage', message);
const shown = await worker.evaluate(async () => {
  while (!globalThis.notification) await new Promise((resolve) => setTimeout(resolve, 20));
  const { data } = globalThis.notification;
  const tap = { notification: { data, close: () => undefined } };
  dispatchEvent(Object.assign(new ExtendableEvent('notificationclick'), tap));
  return globalThis.notification;
});

await page.click('#device .entry button');
const off = await look('off');

const plain = await browser.newContext({ ...options, javaScriptEnabled: false });
await plain.addCookies(await context.cookies());
const without = await plain.newPage();
await without.goto(`${url}/garden`);
const withoutScripts = await without.locator('#device').isVisible();
await browser.close();
console.log(JSON.stringify({ before, refused, on, focused, shown, off, withoutScripts, faults }));
