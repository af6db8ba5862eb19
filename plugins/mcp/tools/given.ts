import { isRecord } from '../../../src/core/values';
import type { Json, JsonSchema } from '../../../src/fields/json-schema';

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/**
 * What a model gave of a value. Frameworks fill in what it left out by null, an empty text or an empty
 * list, so these are left out, and lists are without such items; numbers and booleans may be text.
 *
 * @returns undefined if the model gave nothing
 */
export function givenOf(value: unknown, schema: Json | undefined): unknown {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) {
    return undefined;
  }
  if (!isRecord(schema)) return value;
  if (Array.isArray(value)) return itemsOf(value, schema['items']);
  if (isRecord(value)) return membersOf(value, schema);
  const scalar = typeof value === 'string' ? fromText(value, schema) : value;
  const isOnlyTrue = Array.isArray(schema['enum']) && schema['enum'].every((each) => each === true);
  return scalar === false && isOnlyTrue ? undefined : scalar;
}

function itemsOf(values: readonly unknown[], item: Json | undefined): unknown[] | undefined {
  const items = values.map((each) => givenOf(each, item)).filter((each) => each !== undefined);
  return items.length > 0 ? items : undefined;
}

/**
 * Returns the path of a field, such as `plants[1].name`, with the places of items among all that were given. It
 * reads each list once, however many paths lead through it.
 */
export function pathsAsGiven(args: unknown): (path: string) => string {
  const placesOf = new Map<unknown, number[]>();
  const placesIn = (list: unknown): number[] => {
    const known = placesOf.get(list) ?? placesOfGiven(list);
    placesOf.set(list, known);
    return known;
  };
  return (path) => {
    let value = args;
    return path.replace(/\[(\d+)\]|[^.[\]]+/g, (part, nth: string | undefined) => {
      if (nth === undefined) {
        value = isRecord(value) ? value[part] : undefined;
        return part;
      }
      const place = placesIn(value)[Number(nth)];
      value = Array.isArray(value) && place !== undefined ? value[place] : undefined;
      return `[${place ?? nth}]`;
    });
  };
}

/** The places of the items of a list that {@link givenOf} leaves in it. */
function placesOfGiven(list: unknown): number[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item, place) => (givenOf(item, {}) === undefined ? [] : place));
}

/** Unknown members stay, to be refused by name. */
function membersOf(value: Readonly<Record<string, unknown>>, { properties }: JsonSchema): unknown {
  if (!isRecord(properties)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, each]) => [
        name,
        Object.hasOwn(properties, name) ? givenOf(each, properties[name]) : each,
      ])
      .filter(([, each]) => each !== undefined),
  );
}

function fromText(text: string, { type }: JsonSchema): unknown {
  const types = [type].flat();
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = types.includes('integer') || types.includes('number');
  return isNumber && NUMBER.test(text) ? Number(text) : text;
}
