import { OperatorError } from '../core/errors';

/** Tells the operator why a command failed. Exit code 1. */
export class CommandError extends OperatorError {}

/** Tells the operator what is wrong with the arguments. Exit code 2. */
export class UsageError extends Error {}
