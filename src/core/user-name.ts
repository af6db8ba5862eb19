import { invisibleCharacter } from './text';

const MAX_USER_NAME = 128;

/** What is wrong with the name of a user, to complete a sentence; undefined where nothing is. */
export function userNameFault(name: string): string | undefined {
  if (name.length < 1 || name.length > MAX_USER_NAME) {
    return `must have 1 to ${MAX_USER_NAME} characters`;
  }
  const invisible = invisibleCharacter(name);
  if (invisible !== undefined) return `must not contain the invisible character ${invisible}`;
  return name.trim() === name ? undefined : 'must not begin or end with a space';
}
