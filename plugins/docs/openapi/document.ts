import { CONVENTIONS } from '../conventions';
import { MAX_DETAILS, validationError } from '../../../src/core/errors';
import { PROJECT, LICENSE } from '../../../src/core/settings/project';
import type { JsonObject, JsonSchema } from '../../../src/fields/json-schema';
import type { ApiDescription } from '../../../src/plugins/protocol-endpoint';
import { Components } from './components';
import { describeOperation, describeProtocol } from './endpoints';
import { parameterComponents } from './parameters';
import { headerComponents, sentencesOf } from './responses';

/**
 * The OpenAPI 3.1 document of operations and protocol endpoints.
 *
 * @param server where they are served: PUBLIC_URL, or the origin of the document
 */
export function openApiDocument(api: ApiDescription, server = '/'): JsonObject {
  const components = new Components();
  components.refer('Error', errorSchema(api));
  const paths = pathsOf(api, components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plant care API',
      version: PROJECT.version,
      // npm's word for none.
      ...(LICENSE === 'UNLICENSED' ? {} : { license: { name: LICENSE } }),
      description: [
        "Stores a person's plants, care events and photos, and computes insights from them.",
        ...CONVENTIONS.map(({ topic, rule }) => `**${topic}.** ${rule}`),
      ].join('\n\n'),
    },
    servers: [{ url: server }],
    tags: api.tags.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A developer token (`tnd_mcp_…`), without the word Bearer. Create one in [your settings](settings), or have the operator run `token create --user NAME`; it is shown once.',
        },
      },
      headers: headerComponents(),
      parameters: parameterComponents(),
      schemas: components.toJson(),
    },
  };
}

function pathsOf({ operations, protocols, tags }: ApiDescription, components: Components) {
  const paths: Record<string, JsonObject> = {};
  const add = (
    endpoint: ApiDescription['operations' | 'protocols'][number],
    method: string,
    described: JsonObject,
  ) => {
    const tag = tags.find((each) => each.of.has(endpoint));
    (paths[endpoint.path] ??= {})[method.toLowerCase()] = {
      ...(tag ? { tags: [tag.name] } : {}),
      ...described,
    };
  };
  for (const operation of operations) {
    add(operation, operation.method, describeOperation(operation, components));
  }
  for (const endpoint of protocols) {
    for (const [method, each] of Object.entries(endpoint.methods)) {
      add(endpoint, method, describeProtocol(endpoint, each, components));
    }
  }
  return paths;
}

/** The Error shape (docs/specification.md, 2.13; docs/api.md, "Requests"). */
function errorSchema({ errors, operations }: ApiDescription): JsonSchema {
  const maxDetails = operations.flatMap(({ large }) => large?.maxDetails ?? []);
  const message = 'name is required';
  return {
    type: 'object',
    required: ['error', 'code'],
    properties: {
      error: { type: 'string', description: 'One sentence for people' },
      code: {
        type: 'string',
        enum: errors.map(({ code }) => code),
        description: sentencesOf(errors),
      },
      details: {
        type: 'array',
        minItems: 1,
        maxItems: Math.max(MAX_DETAILS, ...maxDetails),
        description: `Only with ${validationError.code}: the faults of the body and the query`,
        items: {
          type: 'object',
          required: ['field', 'message'],
          properties: {
            field: { type: 'string' },
            message: { type: 'string' },
            line: { type: 'integer', description: 'The line of the text that was sent' },
          },
          additionalProperties: false,
        },
      },
    },
    additionalProperties: false,
    examples: [
      { error: message, code: validationError.code, details: [{ field: 'name', message }] },
    ],
  };
}
