import { isBackend } from '../identity';
import { invisibleCharacter } from './text';

const MAX_USER_NAME = 128;

/** The fault in the name of a user, to complete a sentence, if any. */
export function userNameFault(name: string): string | undefined {
  return nameFault(name, MAX_USER_NAME);
}

/** The same for a user whose account is created. */
export function newUserNameFault(name: string): string | undefined {
  return isBackend(name) ? 'must not begin with ~, as backends do' : userNameFault(name);
}

/** The same for any name that is shown on a terminal. */
export function nameFault(name: string, maxLength: number): string | undefined {
  if (name.length < 1 || name.length > maxLength) return `must have 1 to ${maxLength} characters`;
  const invisible = invisibleCharacter(name);
  if (invisible !== undefined) return `must not contain the invisible character ${invisible}`;
  return name.trim() === name ? undefined : 'must not begin or end with a space';
}
