import { scopesOf } from '../../src/plugins/plugin';
import { runAlone } from './run';
import { loadPlugins } from '../support/program';

const SCOPES = [...scopesOf(loadPlugins()).keys()];

test('without a command, the help is printed as an error', async () => {
  const { code, stdout, stderr } = await runAlone();
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toContain('Usage: npm run --silent cli -- [options] [command]');
});

test('help lists commands, exit codes and examples', async () => {
  const { code, stdout, stderr } = await runAlone('--help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const command of ['token', 'user', 'seed', 'reconcile', 'demo', 'audit', 'config']) {
    expect(stdout).toMatch(new RegExp(`^  ${command}\\b.* {2}\\S`, 'm'));
  }
  expect(stdout).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 /);
  expect(stdout).toContain('Examples:');
});

test.each([
  'token create',
  'token list',
  'token revoke',
  'user list',
  'user show',
  'user set',
  'seed',
  'reconcile',
  'demo',
  'import',
  'audit routes',
  'openapi',
  'config check',
  'config show',
])('help of %s shows an example and --json', async (command) => {
  const { code, stdout, stderr } = await runAlone(...command.split(' '), '--help');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`$ npm run --silent cli -- ${command}`);
  expect(stdout).toContain('--json');
  expect(stdout).toMatch(/Examples?:\n/);
});

test('help of token create names the scopes', async () => {
  const { stdout } = await runAlone('token', 'create', '--help');
  for (const scope of SCOPES) expect(stdout).toContain(scope);
});

/** The scopes that a person's token may have. */
const PERSONAL_SCOPES = SCOPES.filter((scope) => scope !== 'accounts:manage');

const WRONG: [message: string, args: string[]][] = [
  ["unknown command 'water'", ['water']],
  ["unknown option '--loud'", ['user', 'list', '--loud']],
  ['too many arguments', ['user', 'list', 'ada']],
  ['--user USER, --from FILE or --backend NAME', ['token', 'create']],
  ['1 to 128 characters', ['token', 'create', '--user', '']],
  ['1 to 128 characters', ['token', 'create', '--user', 'a'.repeat(129)]],
  ['the invisible character U+0009', ['token', 'create', '--user', 'a\tb']],
  ['the invisible character U+200B', ['token', 'create', '--user', 'ad\u200ba']],
  ['the invisible character U+FEFF', ['token', 'create', '--user', '\ufeffada']],
  ['the invisible character U+202E', ['user', 'invite', '\u202eada']],
  ['the invisible character U+00A0', ['user', 'list', '--as', 'ada\u00a0']],
  ['begin or end with a space', ['token', 'create', '--user', ' ada']],
  ['1 to 128 characters', ['user', 'show', '']],
  ['Allowed choices are free, pro', ['token', 'create', '--user', 'a', '--tier', 'gold']],
  [
    `There is no scope "plants:eat"; choose from ${PERSONAL_SCOPES.join(', ')}`,
    ['token', 'create', '--user', 'a', '--scopes', 'plants:read,plants:eat'],
  ],
  ['There is no scope ""', ['token', 'create', '--user', 'a', '--scopes', '']],
  ['15m, 24h or 90d', ['token', 'create', '--user', 'a', '--expires-in', '0']],
  ['15m, 24h or 90d', ['token', 'create', '--user', 'a', '--expires-in', '1.5']],
  ['15m, 24h or 90d', ['token', 'list', '--expiring', 'soon']],
  ['from 0 to', ['token', 'rotate', '019b2f6e-51a0-7c3e-9d59-0d5c0a2f7b11', '--overlap', '-1']],
  ['--confirm ada', ['user', 'delete', 'ada']],
  ['such as 24h or 30d', ['audit', 'log', '--since', 'yesterday']],
  ['such as 24h or 30d', ['audit', 'log', '--since', '2026-02-30']],
  ['1 to 100 characters', ['token', 'create', '--user', 'a', '--name', '']],
  ['the invisible character U+202E', ['token', 'create', '--user', 'a', '--name', 'a\u202eb']],
  ['must be a UUID', ['token', 'revoke', 'abc']],
  ['IANA time zone name', ['user', 'set', 'ada', '--timezone', '+05:00']],
  ['IANA time zone name', ['user', 'set', 'ada', '--timezone', 'Europe/Atlantis']],
  ['--tier, --timezone or both', ['user', 'set', 'ada']],
  ['either --check or --repair', ['reconcile']],
  ["'--check' cannot be used with option '--repair'", ['reconcile', '--check', '--repair']],
  ['whole number', ['demo', '--user', 'a', '--plants', '0', '--events', '1']],
  ['whole number', ['demo', '--user', 'a', '--plants', '1', '--events', '-1']],
  ["required option '--events <count>' not specified", ['demo', '--user', 'a', '--plants', '1']],
];

test.each(WRONG)('wrong usage is refused before any server starts: %s', async (message, args) => {
  const { code, stdout, stderr } = await runAlone(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain('    at ');
});

test('error messages repeat arguments with control characters escaped', async () => {
  const { stderr } = await runAlone('user', 'set', 'ada', '--tier', 'gold\u001b[31m\u202e');
  expect(stderr).toContain('gold<U+001B>[31m<U+202E>');
});
