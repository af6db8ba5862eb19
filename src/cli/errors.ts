import { OperatorError } from '../core/operator-error';

/** Says in a sentence why a command could not do what it was asked for. */
export class CommandError extends OperatorError {}

/** Says in a sentence what was wrong with what was asked for. */
export class UsageError extends Error {}
