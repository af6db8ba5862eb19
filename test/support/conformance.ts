import type { IncomingMessage, ServerResponse } from 'node:http';

import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

import { openApiDocument } from '../../plugins/docs/openapi/document';
import { RESPONSE_HEADERS } from '../../src/core/http/response-headers';
import type { ApiDescription } from '../../src/plugins/protocol-endpoint';
import { decoded } from './content-coding';

type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

type Send = (...given: unknown[]) => unknown;

/** The part of the OpenAPI document that responses are checked against. */
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Declared> }>>;
}

interface Declared {
  headers: Record<string, object>;
  content?: Record<string, object>;
}

interface Answer {
  method: string;
  path: string;
  status: number;
  type: string;
  body: string;
  /** Names in lower case. */
  headers: readonly string[];
}

interface Declarations {
  paths: readonly DeclaredPath[];
  ajv: Ajv2020;
}

interface DeclaredPath {
  template: string;
  segments: readonly string[];
  operations: Document['paths'][string];
}

/** By the paths of a service; the services of a worker differ in nothing else. */
const declarations = new Map<string, Declarations>();

function declarationsOf(description: ApiDescription): Declarations {
  const { operations, protocols } = description;
  const key = [...operations, ...protocols].map(({ path }) => path).join(' ');
  const known = declarations.get(key);
  if (known) return known;
  const document = openApiDocument(description);
  const ajv = addFormats(new Ajv2020({ strict: false, validateSchema: false }));
  ajv.addSchema(document, 'openapi');
  // It was just created as such.
  const made = { paths: pathsOf(document as unknown as Document), ajv };
  declarations.set(key, made);
  return made;
}

function pathsOf({ paths }: Document): DeclaredPath[] {
  return (
    Object.entries(paths)
      .map(([template, operations]) => ({ template, segments: template.split('/'), operations }))
      // In OpenAPI a path without parameters takes precedence.
      .sort((a, b) => Number(a.template.includes('{')) - Number(b.template.includes('{')))
  );
}

/** Checks every response of a service against its OpenAPI document. */
export class Conformance {
  /** Responses that differ from their declaration, and how. */
  readonly faults: string[] = [];
  readonly #paths: readonly DeclaredPath[];
  readonly #ajv: Ajv2020;
  /** Paths that are also served with a trailing slash. */
  readonly #withSlash: ReadonlySet<string>;

  constructor(description: ApiDescription) {
    const { paths, ajv } = declarationsOf(description);
    this.#paths = paths;
    this.#ajv = ajv;
    this.#withSlash = new Set(
      description.protocols.flatMap((each) => (each.withSlash ? [`${each.path}/`] : [])),
    );
  }

  /** A listener that responds as before, and checks the responses. */
  watch(listener: Listener): Listener {
    return (request, response) => {
      const chunks: Buffer[] = [];
      const recorded =
        (send: Send): Send =>
        (...given) => {
          const [chunk] = given;
          if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
          if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
          return send(...given);
        };
      const { method = '', url = '' } = request;
      // Both have many signatures; only the first argument matters here.
      response.write = recorded(response.write.bind(response) as Send) as typeof response.write;
      response.end = recorded(response.end.bind(response) as Send) as typeof response.end;
      response.once('finish', () => {
        this.#check({
          method,
          // Only the path of an absolute-form target.
          path: url.replace(/^https?:\/\/[^/]*/, '').split('?')[0] ?? '',
          status: response.statusCode,
          headers: response.getHeaderNames(),
          type: String(response.getHeader('content-type') ?? '').split(';')[0] ?? '',
          body: decoded(Buffer.concat(chunks), response.getHeader('content-encoding')).toString(),
        });
      });
      return listener(request, response);
    };
  }

  #check(answer: Answer): void {
    const fault = this.#faultOf(answer);
    if (fault === undefined) return;
    const { method, path, status, body } = answer;
    this.faults.push(`${method} ${path}: ${status} ${fault}: ${body.slice(0, 300)}`);
  }

  #faultOf({ method, path, status, type, body, headers }: Answer): string | undefined {
    const segments = (this.#withSlash.has(path) ? path.slice(0, -1) : path).split('/');
    const declaredPath = this.#paths.find((each) => matches(each.segments, segments));
    if (!declaredPath) {
      return status === 404 ? this.#breach(ERROR, method, body) : 'is not declared of other paths';
    }
    const { template, operations } = declaredPath;
    const name = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = operations[name];
    if (!operation) {
      if (method === 'OPTIONS') return undefined;
      return status === 405
        ? this.#breach(ERROR, method, body)
        : 'is not declared of other methods';
    }
    const declared = operation.responses[status];
    if (!declared) return 'is not declared';
    const fault = headersFault(status, Object.keys(declared.headers), headers);
    if (fault !== undefined) return fault;
    if (!declared.content) return body === '' ? undefined : 'has a body';
    const [media] = Object.keys(declared.content).filter((each) => each.split(';')[0] === type);
    if (media === undefined) return `has the media type ${type}`;
    if (type !== 'application/json') return undefined;
    const place = ['paths', template, name, 'responses', status, 'content', media, 'schema'];
    return this.#breach(`#/${place.map(pointer).join('/')}`, method, body);
  }

  /** How a body violates the schema at a place of the document. */
  #breach(at: string, method: string, body: string): string | undefined {
    if (method === 'HEAD') return body === '' ? undefined : 'has a body';
    const validate = this.#ajv.getSchema(`openapi${at}`);
    if (!validate) return `has no schema at ${at}`;
    return validate(JSON.parse(body)) === true ? undefined : this.#ajv.errorsText(validate.errors);
  }
}

/** Caches may see them on any response; the document names them where clients can use them. */
const ANYWHERE = ['vary', 'cache-control'];
/** The other headers that the document is about, in lower case. */
const KNOWN = Object.keys(RESPONSE_HEADERS)
  .map((name) => name.toLowerCase())
  .filter((name) => !ANYWHERE.includes(name));
/** Those that every response of some statuses has. */
const REQUIRED: Readonly<Record<number, string>> = {
  405: 'allow',
  429: 'retry-after',
  503: 'retry-after',
};

/** How the headers of a response differ from those of the document. */
function headersFault(
  status: number,
  declared: readonly string[],
  sent: readonly string[],
): string | undefined {
  const names = declared.map((name) => name.toLowerCase());
  const extra = sent.filter((name) => KNOWN.includes(name) && !names.includes(name));
  if (extra.length > 0) return `has undeclared headers (${extra.join(', ')})`;
  const required = REQUIRED[status];
  if (required === undefined) return undefined;
  if (!names.includes(required)) return `does not declare ${required}`;
  return sent.includes(required) ? undefined : `has no ${required}`;
}

const ERROR = '#/components/schemas/Error';

function matches(wanted: readonly string[], segments: readonly string[]): boolean {
  return (
    segments.length === wanted.length &&
    wanted.every((each, place) =>
      each.startsWith('{') ? segments[place] !== '' : each === segments[place],
    )
  );
}

/** A segment of a JSON pointer within the fragment of a URI. */
function pointer(segment: string | number): string {
  return encodeURIComponent(String(segment).replaceAll('~', '~0').replaceAll('/', '~1'));
}
