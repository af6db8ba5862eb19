import { Schema } from 'mongoose';

import { IdType, newId, type StoredId } from '../../core/ids';
import { sharedModel } from '../model/models';
import type { AuditEntry, ChainEnd } from './entry';

export type AuditEntryDocument = AuditEntry & { _id: StoredId };

/** The entry in a document, without the document's id. */
export function entryIn(document: AuditEntryDocument): AuditEntry {
  const entry: AuditEntry & { _id?: StoredId } = { ...document };
  delete entry._id;
  return entry;
}

export function entryDocument(entry: AuditEntry): AuditEntryDocument {
  return { _id: newId(), ...entry };
}

export const auditEntryModel = sharedModel<AuditEntryDocument>(
  'AuditEntry',
  'entries outlive their account',
  { shardKey: 'chain' },
  new Schema(
    {
      _id: { type: IdType, required: true },
      chain: { type: String, required: true },
      seq: { type: Number, required: true },
      time: { type: Date, required: true },
      action: { type: String, required: true },
      actor: { type: Schema.Types.Mixed, required: true },
      address: { type: String },
      requestId: { type: String },
      target: { type: Schema.Types.Mixed, required: true },
      changes: { type: Schema.Types.Mixed, required: true },
      previousHash: { type: String },
      hash: { type: String, required: true },
    },
    { collection: 'auditEntries' },
  )
    // The entries of a chain; `audit log --user`.
    .index({ chain: 1, seq: 1 }, { unique: true })
    // What others did in the garden of an account.
    .index(
      { 'actor.garden': 1, chain: 1, seq: 1 },
      { partialFilterExpression: { 'actor.garden': { $exists: true } } },
    )
    // `audit log`, and entries to prune.
    .index({ time: 1, _id: 1 }),
);

export interface PrunedEntries extends ChainEnd {
  count: number;
  /** The time of the last of them. */
  until: Date;
}

export interface AuditHeadDocument extends ChainEnd {
  /** The chain. */
  _id: string;
  pruned: PrunedEntries | null;
}

export const auditHeadModel = sharedModel<AuditHeadDocument>(
  'AuditHead',
  'the ends of the chains of the audit log, apart from its entries',
  { shardKey: '_id' },
  new Schema(
    {
      _id: { type: String, required: true },
      seq: { type: Number, required: true },
      hash: { type: String, required: true },
      pruned: { type: Schema.Types.Mixed },
    },
    { collection: 'auditHeads' },
  ),
);

export const auditModels = [auditEntryModel, auditHeadModel] as const;
