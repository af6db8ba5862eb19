import type { Tier } from '../../../src/core/identity';
import type { Clients } from '../server/clients';
import type { SessionView } from '../state/sessions';

/** What the commands need from the plugin. */
export interface SignIns {
  /** Creates an invitation; returns its link, this once. */
  invite(name: string, tier: Tier | undefined, seconds: number): Promise<string>;
  /** Creates a link that signs whoever opens it in, once and only on this machine. */
  signInLink(name: string, seconds: number): Promise<string>;
  createClient(wanted: Parameters<Clients['create']>[0]): ReturnType<Clients['create']>;
  clients: Clients['list'];
  deleteClient: Clients['delete'];
  /** The sessions of one account, or of all. @throws OperatorError if there is no such account */
  sessions(user?: string): Promise<SessionView[]>;
  /**
   * Ends one session, or all of an account; returns those that ended.
   *
   * @throws OperatorError if there is no such account
   */
  endSessions(which: { id: string } | { user: string }): Promise<SessionView[]>;
}
