/** A file of an archive that holds a part of a collection, whose parts are numbered from 1. */
interface PartOf {
  collection: string;
  number: number;
}

/** The name of a part: `collections/NAME/000001.bson`. */
export function partName(collection: string, number: number): string {
  return `collections/${encodeURIComponent(collection)}/${String(number).padStart(6, '0')}.bson`;
}

/** Which part a name is of; undefined where it is of none. */
export function partOf(name: string): PartOf | undefined {
  const [, encoded = '', digits] = /^collections\/([^/]+)\/(\d{6,})\.bson$/.exec(name) ?? [];
  try {
    const [collection, number] = [decodeURIComponent(encoded), Number(digits)];
    return partName(collection, number) === name ? { collection, number } : undefined;
  } catch {
    return undefined;
  }
}

/** The least length of a document: its own length, and the byte that ends it. */
const SHORTEST = 5;

/** The documents of a part, which are BSON one after the other; undefined where they are not. */
export function documentsOf(part: Buffer): Buffer[] | undefined {
  const documents: Buffer[] = [];
  for (let start = 0; start < part.length;) {
    const length = part.length - start < SHORTEST ? 0 : part.readInt32LE(start);
    const end = start + length;
    if (length < SHORTEST || end > part.length || part[end - 1] !== 0) return undefined;
    documents.push(part.subarray(start, end));
    start = end;
  }
  return documents;
}
