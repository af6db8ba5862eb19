import Joi from 'joi';

import { OperatorError } from '../../src/core/errors';
import { ownOrigin } from '../../src/core/settings/public-origin';
import { Setting } from '../../src/core/settings/settings';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import deliveriesPlugin from '../deliveries';
import mailPlugin from '../mail';
import membersPlugin from '../members';
import { commands } from './commands';
import type { SignIns } from './commands/sign-ins';
import { authorizationServer } from './endpoints/authorization-server';
import type { Parts } from './endpoints/method';
import {
  addressPages,
  issuerPages,
  joinPages,
  passkeyScript,
  recoveryPages,
  settingsPages,
  signInPages,
} from './endpoints/pages';
import { resourceDocuments } from './endpoints/resource-documents';
import { showRefusal } from './pages/refusal';
import { type PersonalPages, personalPages } from './pages/signed-in';
import { assertions } from './migrations/0001-assertions';
import { MailChannel } from './mail/channel';
import { Mails } from './mail/mails';
import { Credentials } from './people/credentials';
import { Passkeys } from './people/passkeys';
import { People } from './people/people';
import { issuerOf, issuerRules, issuerSettings } from './issuer/settings';
import { IssuerSignIn } from './issuer/sign-in';
import { IssuerTokens } from './issuer/tokens';
import { accessTokens } from './server/access-tokens';
import { Clients } from './server/clients';
import { Documents, documentsSetting } from './server/documents';
import { Providers } from './server/provider';
import { credentialModel, stateModel } from './state/model';
import { endSessions, sessionsOf } from './state/sessions';
import { StateStore } from './state/store';

export type { SignIns } from './commands/sign-ins';
export type { BrowserRequest } from './pages/browser-request';
export type { PersonalPages, Place } from './pages/signed-in';

const signUpSetting = new Setting(
  'SIGN_UP',
  Joi.string().valid('invite', 'open'),
  'invite',
  'Who may create an account at /sign-up: invite (only with a link from user invite) or open (anyone)',
);

/** The authorization server and the pages on which people sign in. */
const oauth = definePlugin<SignIns & { pages: PersonalPages }>({
  name: 'oauth',
  requires: ['accounts', 'deliveries', 'mail', 'mcp', 'members', 'pages'],
  settings: [signUpSetting, documentsSetting, ...issuerSettings],
  rules: issuerRules,
  models: [stateModel, credentialModel],
  migrations: [assertions],
  tag: {
    name: 'Signing in',
    description: 'How people sign in and authorize apps (OAuth 2.1).',
  },
  commands: (commandLine) => {
    commands(commandLine, oauth);
  },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    const store = new StateStore(host, accounts);
    const { toPeople: deliveries } = host.use(deliveriesPlugin);
    const mail = host.use(mailPlugin);
    const mails = new Mails({ store, deliveries, mail });
    const credentials = new Credentials(store, mails);
    const people = new People(store, credentials, new Passkeys(store), mails.links);
    const documents = new Documents(store);
    const providers = new Providers({
      store,
      documents,
      renderError: showRefusal,
    });
    const clients = new Clients(store, providers);
    const issuer = issuerOf(host.settings);
    const issued = issuer && new IssuerTokens(issuer, store);
    accounts.accept(accessTokens(store));
    if (issued) accounts.accept(issued);
    accounts.data.keep({
      name: 'programs',
      count: (userId) => store.count(userId, { $ne: 'Session' }),
      export: async function* (userId) {
        yield await store.authorizedApps(userId);
      },
      delete: async (tx) => {
        await store.deleteAll(tx.userId, tx.session);
        await issued?.noteClosing(tx);
      },
      // Requests that were in progress may have written more.
      erase: (userId) => store.deleteAll(userId),
    });
    accounts.data.keep({
      name: 'sessions',
      count: (userId) => store.count(userId, 'Session'),
      export: async function* (userId) {
        yield await sessionsOf(store, userId);
      },
    });
    accounts.data.keep({
      name: 'waysToSignIn',
      count: (userId) => credentials.count(userId),
      export: async function* (userId) {
        yield await credentials.export(userId);
      },
      delete: (tx) => credentials.delete(tx),
    });
    const parts: Parts = {
      host,
      store,
      people,
      mails,
      documents,
      gardens: host.use(membersPlugin),
      providers,
      issuer,
      isOpen: host.settings.of(signUpSetting) === 'open',
    };
    return {
      warnings: () => documents.warnings,
      readings: mail.mailer ? deliveries.open(new MailChannel(host, mail.mailer, mails)) : [],
      exports: {
        pages: personalPages(parts),
        invite: async (name, tier, seconds) => {
          const origin = signInOrigin(parts);
          return `${origin}/sign-up?invite=${await people.invite(name, tier, seconds)}`;
        },
        signInLink: async (name, seconds) => {
          const origin = signInOrigin(parts);
          return `${origin}/sign-in?link=${await people.createLink(name, seconds)}`;
        },
        createClient: async (wanted) => clients.create(wanted, signInOrigin(parts)),
        clients: () => clients.list(),
        deleteClient: (id) => clients.delete(id),
        sessions: async (user) => {
          if (user !== undefined) await accounts.requireUser(user);
          return sessionsOf(store, user);
        },
        endSessions: async (which) => {
          if ('user' in which) await accounts.requireUser(which.user);
          return endSessions(store, which);
        },
      },
      protocols: [
        ...resourceDocuments(parts),
        ...settingsPages(parts),
        joinPages(parts),
        ...(mails.isOn ? addressPages(parts) : []),
        ...(mails.isOn && !issuer ? recoveryPages(parts) : []),
        ...(issuer ? [] : [...authorizationServer(parts), ...signInPages(parts), passkeyScript]),
        ...(issuer?.clientId !== undefined && issued
          ? issuerPages(parts, new IssuerSignIn(issuer, issued, host.log))
          : []),
      ],
    };
  },
});

/**
 * The origin at which people sign in.
 *
 * @throws OperatorError if they sign in at an issuer
 */
function signInOrigin({ host: { settings }, issuer }: Parts): string {
  if (issuer) throw new OperatorError('People sign in at OIDC_ISSUER, not here.');
  return ownOrigin(settings);
}

export default oauth;
