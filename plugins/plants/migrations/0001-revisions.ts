import { addRevisions } from '../../../src/data/schema/revisions';

export const revisions = addRevisions('0001-revisions', 'plants');
