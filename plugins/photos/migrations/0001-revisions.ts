import { addRevisions } from '../../../src/data/schema/migrating';

export const revisions = addRevisions('0001-revisions', 'photos');
