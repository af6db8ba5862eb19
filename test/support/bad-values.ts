import type { Field } from './operations';

type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** A value as JSON text, since JSON.stringify cannot make all of them. */
interface BadValue {
  label: string;
  json: string;
  type: JsonType;
  /** Invalid for a field of any type. */
  isAlwaysBad?: true;
  /** Its length, if that alone may make it invalid. */
  length?: number;
}

/** The nesting depth of some values: just within the limit of bodies. */
const DEEP = 30;

const deepList = '['.repeat(DEEP) + ']'.repeat(DEEP);
const deepObject = '{"":'.repeat(DEEP) + '0' + '}'.repeat(DEEP);

export const BAD_VALUES: readonly BadValue[] = [
  { label: 'null', json: 'null', type: 'null' },
  { label: 'true', json: 'true', type: 'boolean' },
  { label: 'false', json: 'false', type: 'boolean' },
  { label: 'an integer', json: '7', type: 'number' },
  { label: 'digits in a string', json: '"7"', type: 'string' },
  { label: 'a word for true', json: '"true"', type: 'string' },
  { label: 'a date in a string', json: '"2026-03-01"', type: 'string' },
  { label: 'an empty list', json: '[]', type: 'array' },
  { label: 'a list of a list', json: '[[]]', type: 'array' },
  { label: 'a list of null', json: '[null]', type: 'array' },
  { label: 'a list of an operator', json: '[{"$gt": ""}]', type: 'array' },
  { label: 'an empty object', json: '{}', type: 'object' },
  { label: 'the operator $gt', json: '{"$gt": ""}', type: 'object' },
  { label: 'the operator $ne', json: '{"$ne": null}', type: 'object' },
  { label: 'the operator $where', json: '{"$where": "sleep(1000)"}', type: 'object' },
  { label: 'an object with toString', json: '{"toString": "x", "valueOf": "x"}', type: 'object' },
  { label: 'an object with a length', json: '{"length": 1, "0": "x"}', type: 'object' },
  { label: 'an object like a date', json: '{"$date": "2026-03-01T00:00:00Z"}', type: 'object' },
  { label: 'a number beyond doubles', json: '1e400', type: 'number', isAlwaysBad: true },
  { label: 'a number below doubles', json: '-1e400', type: 'number', isAlwaysBad: true },
  { label: '400 digits', json: '9'.repeat(400), type: 'number', isAlwaysBad: true },
  { label: 'NUL', json: '"\\u0000"', type: 'string', isAlwaysBad: true },
  { label: 'NUL within', json: '"a\\u0000b"', type: 'string', isAlwaysBad: true },
  { label: 'a lone high surrogate', json: '"\\ud800"', type: 'string', isAlwaysBad: true },
  { label: 'a lone low surrogate', json: '"a\\udfffb"', type: 'string', isAlwaysBad: true },
  {
    label: 'surrogates in wrong order',
    json: '"\\udfff\\ud800"',
    type: 'string',
    isAlwaysBad: true,
  },
  { label: 'a list 30 deep', json: deepList, type: 'array', isAlwaysBad: true },
  { label: 'an object 30 deep', json: deepObject, type: 'object', isAlwaysBad: true },
  { label: '50,000 letters', json: `"${'a'.repeat(50_000)}"`, type: 'string', length: 50_000 },
  { label: '30,000 zeros', json: `[${'0,'.repeat(30_000)}0]`, type: 'array', isAlwaysBad: true },
];

/** Whether a field must refuse a value. */
export function isBadFor(field: Field, value: BadValue): boolean {
  if (value.isAlwaysBad) return true;
  if (value.type === 'null') return !field.nullable;
  if (value.type !== field.type) return true;
  if (value.json === '[]') return false;
  if (value.type === 'array') return true;
  if (value.type !== 'string') return false;
  if (field.format === 'date') return value.json !== '"2026-03-01"';
  if (field.values.length > 0 || field.format !== undefined) return true;
  return value.length !== undefined && field.max !== undefined && value.length > field.max;
}

/** Query parameters that are not integers. */
export const NO_INTEGERS: readonly string[] = [
  '',
  '%20',
  'ten',
  '1.5',
  '1,5',
  '1e1',
  '0x10',
  '+-1',
  '%2B',
  '--1',
  '1%00',
  '%00',
  '1%0A',
  'null',
  'true',
  'NaN',
  'Infinity',
  '1e400',
  '9'.repeat(400),
  '9007199254740993',
  '%EF%BC%91',
  '%ED%A0%80',
  '%F0%9F%8C%B1',
  '%E0%A4%A',
  '%',
  '[]',
  '{}',
  '%7B%22%24gt%22:0%7D',
  '2026-03-01',
];
