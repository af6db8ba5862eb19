import { createHash, randomBytes } from 'node:crypto';

import type { TestService } from '../../../../test/support/service';
import { bodyOf } from '../../../../test/support/shapes';
import { Browser, type Page } from './browser';
import type { Person } from './people';
import { authorize } from './program';

export const CALLBACK = 'com.example.ferns:/callback';

export interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
}

/** An app on a phone, with a private scheme. */
export class Phone {
  readonly verifier = randomBytes(32).toString('base64url');
  readonly browser: Browser;
  /** The client secret, if it has one. */
  secret: string | undefined;

  constructor(
    readonly service: TestService,
    readonly person: Person,
    readonly clientId: string,
    readonly callback = CALLBACK,
  ) {
    this.browser = new Browser(service.url);
  }

  static async register(
    service: TestService,
    somebody: Person,
    metadata: object = {},
  ): Promise<Phone> {
    const wanted = { client_name: 'Ferns', redirect_uris: [CALLBACK], ...metadata };
    const answer = await service.anonymous.post('/oauth/register').send(wanted).expect(201);
    return new Phone(service, somebody, String(bodyOf(answer)['client_id']));
  }

  /** The address of an authorization request. */
  asks(changes: Record<string, string | undefined> = {}): URL {
    const url = new URL('/oauth/authorize', this.service.url);
    const parameters: Record<string, string | undefined> = {
      client_id: this.clientId,
      redirect_uri: this.callback,
      response_type: 'code',
      state: 'as it was',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...changes,
    };
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return url;
  }

  allowed(changes: Record<string, string | undefined> = {}, scope?: string[]): Promise<Page> {
    return authorize(this.browser, this.asks(changes), { ...this.person, scope });
  }

  async code(changes: Record<string, string | undefined> = {}, scope?: string[]): Promise<string> {
    const { url } = await this.allowed(changes, scope);
    return url.searchParams.get('code') ?? '';
  }

  send(form: Record<string, string>) {
    const secret = this.secret === undefined ? {} : { client_secret: this.secret };
    const sent = { client_id: this.clientId, ...secret, ...form };
    return this.service.anonymous.post('/oauth/token').type('form').send(sent);
  }

  exchange(code: string, changes: Record<string, string> = {}) {
    const { verifier: code_verifier } = this;
    const given = { code, redirect_uri: this.callback, code_verifier, ...changes };
    return this.send({ grant_type: 'authorization_code', ...given });
  }

  async tokens(changes: Record<string, string | undefined> = {}, scope?: string[]) {
    const answer = await this.exchange(await this.code(changes, scope)).expect(200);
    return bodyOf(answer) as unknown as Tokens;
  }

  refresh(refresh_token: string) {
    return this.send({ grant_type: 'refresh_token', refresh_token });
  }
}
