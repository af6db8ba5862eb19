/**
 * The queries that ask every shard of a cluster, with the fields of their filter, and what sends them
 * (docs/scaling.md, "A sharded cluster").
 */
export const EVERY_SHARD: Readonly<Record<string, string>> = {
  'accounts.watch $match': 'a job reads the changes of all accounts',
  'accounts.watch $project': 'a job reads the changes of all accounts',
  'accounts.aggregate': 'the job of reminders: the time zones of all accounts',
  'accounts.find': 'commands that list all accounts',
  'accounts.find _id, deletingSince': '`GET /api/accounts`: the list of all accounts',
  'accounts.find deletingSince':
    'the job that deletes closed accounts; commands that visit all accounts',
  'accounts.find deletingSince, remindAt, timezone': 'the job of reminders: who is reminded now',
  'accounts.find deletingSince, tier, tierUntil': 'the job of ends of tiers: whose tier has ended',
  'accounts.updateMany': 'migrations and restores: the revisions of all accounts',
  'auditEntries.aggregate time': 'the job that prunes the audit log: chains with old entries',
  'auditEntries.aggregate chain': 'the command `audit verify`: chains that have entries',
  'auditEntries.countDocuments chain': 'the command `audit verify`: entries without a chain',
  'auditEntries.find': 'the commands `audit log` and `audit export`',
  'auditEntries.find $or': 'the command `audit verify`: entries that were added meanwhile',
  'auditEntries.find $and': 'the command `audit log`',
  'auditHeads.estimatedDocumentCount': 'the command `audit verify`: the number of chains',
  'auditHeads.find': 'the commands `audit verify` and `audit export`',
  'deletions.findOne userId': 'the job that prunes deletions: the next account that has some',
  'removedPlants.find': 'the job that deletes the events of deleted plants: all that wait',
};
