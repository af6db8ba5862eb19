import Joi from 'joi';

/** RFC 5321, section 4.5.3.1.3, without the brackets. */
const MAX_LENGTH = 254;

/** An address, perhaps in the local network. */
export const PLAIN_ADDRESS = Joi.string()
  .email({ tlds: false, minDomainSegments: 1, allowUnicode: false })
  .max(MAX_LENGTH)
  .required();

const PERSONS = PLAIN_ADDRESS.email({ tlds: false, allowUnicode: false }).trim().lowercase();

/** The address that a person typed, as it is compared and stored; undefined if it is invalid. */
export function addressIn(typed: string): string | undefined {
  const checked = PERSONS.validate(typed);
  return checked.error ? undefined : checked.value;
}
