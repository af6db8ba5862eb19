import { run, start } from '../../../test/cli/run';
import { tlsSettings } from '../../../test/support/program';
import { makeCertificate } from '../../../test/support/certificate';
import { MailServer, refusal } from '../../../test/support/mail-server';

const FROM = { MAIL_FROM: 'Plants <plants@example.com>' };

async function check(env: NodeJS.ProcessEnv) {
  const { code, stdout } = await run(['config', 'check', '--json'], { DATA_DIR: '/tmp', ...env });
  return { code, faults: (JSON.parse(stdout) as { faults: string[] }).faults };
}

test.each([
  [{ SMTP_URL: 'smtp://127.0.0.1' }, 'SMTP_URL needs MAIL_FROM as well'],
  [FROM, 'MAIL_FROM needs SMTP_URL as well'],
  [
    { ...FROM, SMTP_URL: 'http://127.0.0.1' },
    'SMTP_URL must be a URL such as smtp://user:password@mail.example.com:587',
  ],
  [
    { ...FROM, SMTP_URL: 'smtp://127.0.0.1?ignoreTLS=true' },
    'SMTP_URL must be a URL such as smtp://user:password@mail.example.com:587',
  ],
  [
    { SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM: 'Plants' },
    'MAIL_FROM must be an address such as Plants <plants@example.com>',
  ],
  [
    { SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM: 'A <a@example.com>\r\nBcc: b@example.com' },
    'MAIL_FROM must be an address such as Plants <plants@example.com>',
  ],
])('%j is refused', async (env, fault) => {
  expect(await check(env)).toEqual({ code: 2, faults: [fault] });
});

test('config show masks the password of the mail server', async () => {
  const SMTP_URL = 'smtps://ada:secret@127.0.0.1';
  const { stdout } = await run(['config', 'show'], { DATA_DIR: '/tmp', ...FROM, SMTP_URL });
  expect(stdout).toContain('smtps://ada:***@127.0.0.1');
});

test('config check and doctor try the mail server without sending', async () => {
  const commands: string[] = [];
  const server = await MailServer.start({
    onMailFrom: (_address, _session, done) => {
      commands.push('MAIL');
      done();
    },
  });
  expect(await check({ ...FROM, SMTP_URL: server.url() })).toEqual({ code: 0, faults: [] });
  expect(server.connections).toBe(1);
  expect(commands).toEqual([]);
  await server.close();
  const { code, faults } = await check({ ...FROM, SMTP_URL: server.url() });
  expect(code).toBe(1);
  expect(faults).toEqual([
    expect.stringMatching(
      /^The mail server cannot be used \(.*ECONNREFUSED.*\): check SMTP_URL\.$/,
    ),
  ]);
});

test('no password is sent without encryption', async () => {
  const tried: string[] = [];
  const server = await MailServer.start({
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) => {
      tried.push(String(password));
      done(refusal(535, 'No'));
    },
  });
  const { code } = await check({ ...FROM, SMTP_URL: server.url('ada:right@') });
  expect({ code, tried }).toEqual({ code: 1, tried: [] });
  await server.close();
});

test('a password is checked under STARTTLS, with a certificate that is trusted', async () => {
  const trusted = tlsSettings();
  const NODE_EXTRA_CA_CERTS = trusted.env['TLS_CERT_FILE'];
  const { readFileSync } = await import('node:fs');
  const key = readFileSync(trusted.env['TLS_KEY_FILE'] ?? '', 'utf8');
  const server = await MailServer.start({ certificate: { cert: trusted.ca, key } });
  const other = await MailServer.start({ certificate: makeCertificate() });
  const checkApart = async (SMTP_URL: string) => {
    const env = { ...FROM, DATA_DIR: '/tmp', NODE_EXTRA_CA_CERTS, SMTP_URL };
    const { code, stdout } = await start(['config', 'check'], env).ended;
    return { code, stdout: stdout.trim() };
  };
  try {
    expect(await checkApart(server.url('ada:right@', 'localhost'))).toMatchObject({ code: 0 });
    const wrong = await checkApart(server.url('ada:wrong-one@', 'localhost'));
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain('535');
    expect(wrong.stdout).not.toContain('wrong-one');
    expect(await checkApart(other.url('ada:right@', 'localhost'))).toMatchObject({ code: 1 });
  } finally {
    await server.close();
    await other.close();
    trusted.remove();
  }
});
