import { isBackend } from '../identity';
import { invisibleCharacter } from './text';

const MAX_USER_NAME = 128;

/** What is wrong with the name of a user, to complete a sentence; undefined where nothing is. */
export function userNameFault(name: string): string | undefined {
  return nameFault(name, MAX_USER_NAME);
}

/** The same of a user whose account may be made. */
export function newUserNameFault(name: string): string | undefined {
  return isBackend(name) ? 'must not begin with ~, as backends do' : userNameFault(name);
}

/** The same of any name that people read on a terminal. */
export function nameFault(name: string, maxLength: number): string | undefined {
  if (name.length < 1 || name.length > maxLength) return `must have 1 to ${maxLength} characters`;
  const invisible = invisibleCharacter(name);
  if (invisible !== undefined) return `must not contain the invisible character ${invisible}`;
  return name.trim() === name ? undefined : 'must not begin or end with a space';
}
