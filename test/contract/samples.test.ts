import { NOBODYS_ID } from '../support/shapes';
import { fullRequest, idOfEveryKind, operationRows, validRequest } from '../support/program';

const ids = idOfEveryKind(NOBODYS_ID);
const rows = operationRows();

// All generated tests start from these samples of test/support/operations.ts.
test.each(rows.filter(([, { body }]) => body))(
  'the sample bodies of %s are valid',
  (_name, operation) => {
    for (const requestOf of [validRequest, fullRequest]) {
      const { body } = requestOf(operation, ids);
      const { error } = operation.body?.validate(body, { convert: false }) ?? {};
      expect({ body, fault: error?.message }).toEqual({ body, fault: undefined });
    }
  },
);
