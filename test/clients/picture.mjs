// Takes the picture of the README: of the demo garden, as the link that `make run` prints opens it.
// Its arguments: LINK FILE
import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

const [link, file] = process.argv.slice(2);

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
});
const page = await browser.newPage({ viewport: { width: 1100, height: 760 }, locale: 'en-GB' });
await page.goto(link);
await page.click('button[value=done][aria-label]');
await page.waitForSelector('#news');
await page.evaluate('scrollTo(0, 0)');
await page.screenshot({ path: file });
await browser.close();
