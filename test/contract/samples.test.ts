import { NOBODYS_ID } from '../support/shapes';
import { fullRequest, idOfEveryKind, operationRows, validRequest } from '../support/program';

const ids = idOfEveryKind(NOBODYS_ID);
const rows = operationRows();

// All other tests of all operations start from these samples; test/support/operations.ts makes them.
test.each(rows.filter(([, { body }]) => body))(
  'the samples of the body of %s are valid',
  (_name, operation) => {
    for (const requestOf of [validRequest, fullRequest]) {
      const { body } = requestOf(operation, ids);
      const { error } = operation.body?.validate(body, { convert: false }) ?? {};
      expect({ body, fault: error?.message }).toEqual({ body, fault: undefined });
    }
  },
);
