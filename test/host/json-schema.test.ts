import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import Joi from 'joi';

import { jsonSchemaOf } from '../../src/fields/json-schema';
import { id, instant, integer, nullable, oneOf, text, timestamp } from '../support/program';

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
addFormats(ajv);

const UUID = '01920000-0000-7000-8000-0123456789ab';

const person = Joi.object({
  name: text({ min: 1, max: 5 }).required(),
  nick: nullable(text({ max: 3 })),
  mood: nullable(oneOf(['good', 'bad'])),
  age: nullable(integer(0, 150)),
  balance: integer(),
  weight: Joi.number().unsafe().greater(0),
  friends: Joi.array()
    .items(id())
    .max(2)
    .meta({ jsonSchema: { uniqueItems: true } }),
  born: timestamp(),
});

describe('a Joi schema and its translation accept the same values:', () => {
  const translated = ajv.compile(jsonSchemaOf(person, 'input'));
  const values: [string, unknown][] = [
    ['nothing', {}],
    ['what is required', { name: 'Ada' }],
    ['what nobody knows', { name: 'Ada', colour: 'red' }],
    ['an empty name', { name: '' }],
    ['a long name', { name: 'Adaline' }],
    ['null for a name', { name: null }],
    ['an empty nick', { name: 'Ada', nick: '' }],
    ['no nick', { name: 'Ada', nick: null }],
    ['one of the moods', { name: 'Ada', mood: 'bad' }],
    ['no mood', { name: 'Ada', mood: null }],
    ['another mood', { name: 'Ada', mood: 'so-so' }],
    ['the lowest age', { name: 'Ada', age: 0 }],
    ['no age', { name: 'Ada', age: null }],
    ['a negative age', { name: 'Ada', age: -1 }],
    ['a fraction of an age', { name: 'Ada', age: 1.5 }],
    ['an age in words', { name: 'Ada', age: '7' }],
    ['the greatest exact integer', { name: 'Ada', balance: Number.MAX_SAFE_INTEGER }],
    ['one more', { name: 'Ada', balance: Number.MAX_SAFE_INTEGER + 1 }],
    ['one less than the least', { name: 'Ada', balance: Number.MIN_SAFE_INTEGER - 1 }],
    ['a great number', { name: 'Ada', weight: 1e300 }],
    ['nothing of a number', { name: 'Ada', weight: 0 }],
    ['a friend', { name: 'Ada', friends: [UUID] }],
    ['the same friend twice', { name: 'Ada', friends: [UUID, UUID] }],
    ['a friend in capitals', { name: 'Ada', friends: [UUID.toUpperCase()] }],
    ['a friend by a URN', { name: 'Ada', friends: [`urn:uuid:${UUID}`] }],
    ['a moment', { name: 'Ada', born: '1815-12-10T05:00:00.5+01:00' }],
    ['a moment in small letters', { name: 'Ada', born: '1815-12-10t05:00:00z' }],
    ['a day', { name: 'Ada', born: '1815-12-10' }],
    ['a moment anywhere', { name: 'Ada', born: '1815-12-10T05:00:00' }],
    ['a moment of no calendar', { name: 'Ada', born: '1815-02-29T05:00:00Z' }],
    ['a moment with a space', { name: 'Ada', born: '1815-12-10 05:00:00Z' }],
  ];

  test.each(values)('%s', (_, value) => {
    const unique = new Set((value as { friends?: string[] }).friends).size;
    const isUnique = unique === ((value as { friends?: string[] }).friends ?? []).length;
    const accepted = isUnique && person.validate(value, { convert: false }).error === undefined;
    expect(translated(value)).toBe(accepted);
  });
});

test('null is a value of a nullable enum, and each type is listed once', () => {
  expect(jsonSchemaOf(nullable(oneOf(['cm', 'in'])), 'output')).toEqual({
    type: ['string', 'null'],
    enum: ['cm', 'in', null],
  });
});

test('output schemas have formats only, input schemas also exact patterns', () => {
  expect(jsonSchemaOf(id(), 'output')).toEqual({ type: 'string', format: 'uuid' });
  expect(jsonSchemaOf(id(), 'input')).toHaveProperty('pattern');
  expect(jsonSchemaOf(nullable(instant()), 'output')).toEqual({
    type: ['string', 'null'],
    format: 'date-time',
  });
});

test('corrections also apply within lists and objects', () => {
  const schema = Joi.array().items(
    Joi.object({ at: Joi.string().meta({ jsonSchema: { format: 'date' } }) }),
  );
  expect(jsonSchemaOf(schema, 'output')).toMatchObject({
    items: { properties: { at: { type: 'string', format: 'date' } } },
  });
});

describe('a rule that depends on another field', () => {
  const drink = Joi.object({
    isTea: Joi.boolean(),
    kind: oneOf(['green', 'black', 'espresso']).when('isTea', {
      is: Joi.valid(true).required(),
      then: Joi.valid(Joi.override, 'green', 'black'),
      otherwise: Joi.string().default('espresso'),
    }),
  });
  const translated = ajv.compile(jsonSchemaOf(drink, 'input'));

  test('becomes a condition', () => {
    for (const isTea of [undefined, true, false]) {
      for (const kind of [undefined, 'green', 'black', 'espresso', 'milk']) {
        const value = JSON.parse(JSON.stringify({ isTea, kind })) as unknown;
        expect([value, translated(value)]).toEqual([
          value,
          drink.validate(value, { convert: false }).error === undefined,
        ]);
      }
    }
  });

  test('is refused if it is more complex', () => {
    const other = Joi.string().when('a', {
      is: 1,
      then: Joi.valid('x'),
      otherwise: Joi.valid('y'),
    });
    const schema = Joi.object({ a: Joi.number(), b: other, c: other });
    expect(() => jsonSchemaOf(schema, 'input')).toThrow('cannot be translated');
  });

  test('exactly one of several keys is translated for any number of them', () => {
    const fields = { a: Joi.number(), b: Joi.number(), c: Joi.number() };
    const schema = Joi.object(fields).xor('a', 'b', 'c');
    const isValid = new Ajv2020({ strict: false }).compile(jsonSchemaOf(schema, 'input'));
    for (const value of [
      {},
      { a: 1 },
      { c: 1 },
      { a: 1, c: 1 },
      { b: 1, c: 1 },
      { a: 1, b: 1, c: 1 },
    ]) {
      expect([value, isValid(value)]).toEqual([value, schema.validate(value).error === undefined]);
    }
  });

  test('other rules on which keys go together are refused', () => {
    const schema = Joi.object({ a: Joi.number(), b: Joi.number() }).and('a', 'b');
    expect(() => jsonSchemaOf(schema, 'input')).toThrow('The rule and of an object cannot be');
  });
});
