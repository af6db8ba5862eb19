/** Says in a sentence why an archive cannot be made, read or restored, for the operator. */
export class BackupError extends Error {}
