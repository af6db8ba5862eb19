'use strict';
// PORT=8080 WEBHOOK_SECRET=whsec_… node receiver.js FILE
// Appends each event to a file, once.

const { createHmac, timingSafeEqual } = require('node:crypto');
const {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} = require('node:fs');
const { createServer } = require('node:http');
const { text } = require('node:stream/consumers');

const [, , file = 'events.jsonl'] = process.argv;
const key = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64');
const TOLERANCE_SECONDS = 300;

const log = openSync(file, 'a+');
const written = readFileSync(file, 'utf8');
// A crash may have left a partial line. Its event was not acknowledged, so it is delivered again.
const whole = written.slice(0, written.lastIndexOf('\n') + 1);
truncateSync(file, Buffer.byteLength(whole));
const seen = new Set(
  whole
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id),
);

/** Returns whether a message is recent and signed with the secret. */
function isGenuine({ headers }, body) {
  const {
    'webhook-id': id,
    'webhook-timestamp': sentAt,
    'webhook-signature': given = '',
  } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest();
  return given.split(' ').some((each) => {
    const signature = Buffer.from(each.replace(/^v1,/, ''), 'base64');
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
}

const server = createServer(async (request, response) => {
  const body = await text(request).catch(() => undefined);
  // The request broke off, and will be repeated.
  if (body === undefined) return undefined;
  if (!isGenuine(request, body)) return response.writeHead(401).end();
  const id = request.headers['webhook-id'];
  if (!seen.has(id)) {
    // One write stores the id and the event, so that neither exists without the other.
    writeSync(log, `${JSON.stringify({ id, ...JSON.parse(body) })}\n`);
    fsyncSync(log);
    seen.add(id);
  }
  return response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  console.log(`Listening at http://127.0.0.1:${server.address().port}`);
});
process.on('SIGTERM', () => {
  closeSync(log);
  process.exit();
});
