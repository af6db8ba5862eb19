/** A problem for the operator to solve; the message explains it in plain sentences. */
export class OperatorError extends Error {}
