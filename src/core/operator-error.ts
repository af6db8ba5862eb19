/**
 * What keeps the program from its work and is no fault of it: the message says to the operator, in one
 * or more plain sentences, what is wrong.
 */
export class OperatorError extends Error {}
