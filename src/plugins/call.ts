import type { Account, Garden, HeldToken } from '../core/identity';
import type { Acting } from '../data/audit/entry';
import type { Tenant } from '../data/model/models';
import type { Transaction } from '../data/writing/transaction';

interface Call<Names extends string> {
  now: Date;
  /** The token that the request was sent with. */
  token: HeldToken;
  /** Valid UUIDs in lower case. */
  params: Readonly<Record<Names, string>>;
}

/** What the handler of a read gets. */
export interface ReadCall<Query, Names extends string> extends Call<Names> {
  /** Whose garden it is. */
  account: Account;
  /** The account of who calls. */
  caller: Account;
  /** Who acts, for what is recorded outside of a write. */
  acting: Acting;
  /** Whose records to read. For If-Match it is the transaction of the write. */
  tenant: Tenant;
  query: Query;
  /** Sets when the response expires by time alone; without it only writes change the response. */
  validUntil: (moment: Date) => void;
}

/** What the handler of a write gets. It runs again when its transaction is retried. */
export interface WriteCall<Body, Names extends string, Query = undefined> extends Call<Names> {
  tx: Transaction;
  query: Query;
  body: Body;
  /** For an operation of a member: the garden of another that the call names. */
  within: Garden | undefined;
  /** The origin of URLs in the response. */
  origin: () => string;
}

/** What the handler of a PUT gets, which runs its own transactions. */
export interface PutCall<Body, Names extends string> extends ReadCall<undefined, Names> {
  body: Body;
  /** Makes the status 201: the record is new. */
  made: () => void;
}
