/** The longest response of an issuer, such as its key set. */
const MAX_BYTES = 100 * 1024;

/**
 * Fetches a document of an issuer.
 *
 * @throws Error if it is too long; the rest is then not read
 */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    const chunk = part as Uint8Array<ArrayBuffer>; // As the Fetch standard says.
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new Error(`${url} responded with more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  // A status such as 204 allows no body.
  return new Response(length === 0 ? null : new Blob(chunks), { status, headers });
}
