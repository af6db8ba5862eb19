import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { freePort, until } from '../support/processes';
import { pythonWith } from './python';

const EXAMPLE = path.join(__dirname, '../../examples/home-assistant/custom_components');

/** The last one that runs on Python 3.11, with a version that its dependencies do not name. */
const PACKAGES = ['homeassistant==2024.3.3', 'josepy==1.15.0'];

/** Sends what a to-do list shows, which its REST API does not. */
const SCRIPT = `
script:
  list:
    sequence:
      - service: todo.get_items
        target: { entity_id: '{{ list }}' }
        data: { status: [needs_action, completed] }
        response_variable: found
      - event: listed
        event_data: { items: "{{ found[list]['items'] }}" }
`;

/** An item of a to-do list. */
export interface Item {
  uid: string;
  summary: string;
  status: string;
  due: string;
}

/** A step of a set-up. */
export interface Step {
  flow_id: string;
  type: string;
  step_id?: string;
  errors?: Record<string, string> | null;
  reason?: string;
  url?: string;
}

/** A program of Home Assistant with its person, as its own page uses it. */
export class HomeAssistant {
  #token = '';
  #isOver = false;

  private constructor(
    readonly url: string,
    readonly config: string,
    readonly child: ChildProcess,
    /** What it has logged. */
    readonly logged: Promise<string>,
  ) {}

  /** Starts one with the integration of the example. */
  static async start(folder: string): Promise<HomeAssistant> {
    const program = await pythonWith(folder, PACKAGES);
    const config = path.join(folder, 'config');
    mkdirSync(config);
    cpSync(EXAMPLE, path.join(config, 'custom_components'), { recursive: true });
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const settings = [
      ...['http:', '  server_host: 127.0.0.1', `  server_port: ${port}`],
      ...['homeassistant:', `  internal_url: ${url}`, '  time_zone: UTC', '  language: en'],
      ...['  latitude: 0', '  longitude: 0', '  elevation: 0', '  unit_system: metric'],
    ];
    writeFileSync(path.join(config, 'configuration.yaml'), settings.join('\n') + SCRIPT);
    const child = spawn(program, ['-m', 'homeassistant', '--config', config], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const home = new HomeAssistant(url, config, child, text(child.stderr));
    child.on('exit', () => {
      home.#isOver = true;
    });
    await home.#signUp();
    return home;
  }

  /** Creates the first person, who may do everything. */
  async #signUp(): Promise<void> {
    const client = { client_id: `${this.url}/` };
    const person = { name: 'Ada', username: 'ada', password: 'seven green ferns', language: 'en' };
    let created: Record<string, unknown> = {};
    await until(async () => {
      if (this.#isOver) throw new Error(await this.logged);
      // It answers before it knows the path.
      const isThere = await fetch(`${this.url}/api/onboarding`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (!isThere) return false;
      created = await this.send('POST', '/api/onboarding/users', { ...person, ...client });
      return true;
    }, 500);
    const grant = { grant_type: 'authorization_code', code: String(created['auth_code']) };
    const body = new URLSearchParams({ ...grant, ...client });
    const response = await fetch(`${this.url}/auth/token`, { method: 'POST', body });
    this.#token = ((await response.json()) as { access_token: string }).access_token;
  }

  /** @throws Error for any response but a success */
  async send<T = Record<string, unknown>>(method: string, to: string, body?: object): Promise<T> {
    const response = await fetch(this.url + to, {
      method,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        'Content-Type': 'application/json',
        // Where its page was opened, and the sign-in returns to.
        'HA-Frontend-Base': this.url,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const said = await response.text();
    if (!response.ok) throw new Error(`${method} ${to}: ${response.status} ${said}`);
    return JSON.parse(said) as T;
  }

  /** Goes on with a set-up, or begins one. */
  step(flow: string | undefined, given: object): Promise<Step> {
    const to = '/api/config/config_entries/flow';
    return this.send('POST', flow === undefined ? to : `${to}/${flow}`, given);
  }

  async state(entity: string): Promise<string> {
    return String((await this.send('GET', `/api/states/${entity}`))['state']);
  }

  /** The data of the first event of a type after an act. */
  async hear<T>(type: string, act: () => Promise<unknown>): Promise<T> {
    const headers = { Authorization: `Bearer ${this.#token}` };
    const { body } = await fetch(`${this.url}/api/stream?restrict=${type}`, { headers });
    if (!body) throw new Error('It sends no events.');
    let unread = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const [last = '', ...lines] = (unread + chunk).split('\n').reverse();
      unread = last;
      for (const line of lines) {
        // It listens.
        if (line.startsWith('data: ping')) await act();
        if (line.startsWith('data: {')) return (JSON.parse(line.slice(6)) as { data: T }).data;
      }
    }
    throw new Error('It sends no more events.');
  }

  /** What its to-do list shows. */
  async items(list: string): Promise<Item[]> {
    const command = { entity_id: 'script.list', variables: { list } };
    const { items } = await this.hear<{ items: Item[] }>('listed', () =>
      this.send('POST', '/api/services/script/turn_on', command),
    );
    return items;
  }

  /** The path of the account that was set up. */
  async entry(): Promise<string> {
    const to = '/api/config/config_entries/entry';
    const entries = await this.send<{ domain: string; entry_id: string }[]>('GET', to);
    const entry = entries.find(({ domain }) => domain === 'plant_care');
    if (!entry) throw new Error('Nothing was set up.');
    return `${to}/${entry.entry_id}`;
  }

  /** What it keeps of the account that was set up. */
  async kept(): Promise<{ webhook_id: string }> {
    const file = path.join(this.config, '.storage/core.config_entries');
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('webhook_id'));
    const { data } = JSON.parse(readFileSync(file, 'utf8')) as {
      data: { entries: { domain: string; data: { webhook_id: string } }[] };
    };
    const entry = data.entries.find(({ domain }) => domain === 'plant_care');
    if (!entry) throw new Error('Nothing was set up.');
    return entry.data;
  }

  async stop(): Promise<string> {
    this.child.kill('SIGINT');
    await until(() => this.#isOver);
    return this.logged;
  }
}
