import { isBackend } from '../identity';
import { invisibleCharacter } from './text';

const MAX_USER_NAME = 128;

/** The fault in the name of an existing user, to complete a sentence, if any. 1.0.0 allowed any character. */
export function userNameFault(name: string): string | undefined {
  return lengthFault(name, MAX_USER_NAME);
}

/** The same for a user whose account is created. */
export function newUserNameFault(name: string): string | undefined {
  return isBackend(name) ? 'must not begin with ~, as backends do' : nameFault(name, MAX_USER_NAME);
}

/** The same for any new name that is shown on a terminal. */
export function nameFault(name: string, maxLength: number): string | undefined {
  const fault = lengthFault(name, maxLength);
  if (fault !== undefined) return fault;
  const invisible = invisibleCharacter(name);
  if (invisible !== undefined) return `must not contain the invisible character ${invisible}`;
  return name.trim() === name ? undefined : 'must not begin or end with a space';
}

function lengthFault({ length }: string, maxLength: number): string | undefined {
  const fits = length >= 1 && length <= maxLength;
  return fits ? undefined : `must have 1 to ${maxLength} characters`;
}
