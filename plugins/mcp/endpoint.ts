import { PARSE_ERROR } from '@modelcontextprotocol/server';
import type { Context } from 'koa';

import {
  ApiError,
  internalError,
  invalidJson,
  invalidToken,
  methodNotAllowed,
} from '../../src/errors';
import type { Principal } from '../../src/identity';
import type { Exchange, Host } from '../../src/plugins/manifest';
import { IDENTITY } from '../../src/project';
import { allowedOriginsSetting, Origins } from './origins';
import type { Answer } from './frames';
import { answer, rpcError, SERVER_ERROR } from './protocol';
import { badArguments, keptError, refusal, success, type ToolAnswer } from './results';
import { type Tool, Tools } from './tools';

/** `/api/mcp` (section 4.4): the operations of all plugins as tools. */
export class Endpoint {
  readonly #origins: Origins;
  #tools: Tools | undefined;

  constructor(private readonly host: Host) {
    this.#origins = new Origins(host.settings.of(allowedOriginsSetting));
  }

  /** Says what is here, to anybody. */
  async describe(ctx: Context, exchange: Exchange): Promise<void> {
    ctx.vary('Accept');
    // Clients of the older wire look for a stream like this, and try again for ever on a 200.
    if (ctx.accepts('json', 'text/event-stream') === 'text/event-stream') {
      throw methodNotAllowed.error('There is no event stream here; send requests by POST.', {
        headers: { Allow: 'GET, POST' },
      });
    }
    const description = {
      ...IDENTITY,
      auth: 'bearer',
      scopes: [...this.host.scopes.keys()],
      tools: this.#toolsOf(exchange).names,
    };
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(description);
  }

  /** Answers a JSON-RPC message. */
  async receive(ctx: Context, exchange: Exchange): Promise<void> {
    const { status, json } = await this.#answer(ctx, exchange);
    ctx.status = status;
    ctx.body = json;
    if (json === '') ctx.remove('Content-Type');
    else ctx.type = 'application/json';
  }

  async #answer(ctx: Context, exchange: Exchange): Promise<Answer> {
    const fault = this.#origins.fault(ctx.req.headers);
    if (fault !== undefined) return rpcError(403, SERVER_ERROR, fault);
    const principal = await authenticate(ctx, exchange);
    let message: unknown;
    try {
      message = await exchange.readJson(ctx);
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== invalidJson) throw error;
      return rpcError(400, PARSE_ERROR, error.message);
    }
    const tools = this.#toolsOf(exchange);
    return answer(message, ctx.req.headers, {
      tools: () => tools.listFor(principal.scopes),
      has: (name) => tools.has(name),
      call: (name, given) => this.#call(tools.get(name), given, { ctx, exchange, principal }),
    });
  }

  async #call(tool: Tool, given: unknown, caller: Caller): Promise<ToolAnswer> {
    if (!isObject(given)) return badArguments(tool);
    const { ctx, exchange, principal } = caller;
    try {
      const input = tool.arguments.toInput(given);
      const outcome = await exchange.call(tool.operation, principal, input, ctx);
      if ('value' in outcome) return success(JSON.stringify(outcome.value));
      if (outcome.replayed) ctx.set('Idempotent-Replayed', 'true');
      if (outcome.status < 400) return success(outcome.json);
      return refusal(keptError(outcome.json, tool), tool, given);
    } catch (error) {
      if (error instanceof ApiError) return refusal(error, tool, given);
      // The package would tell its message to the caller.
      this.host.log.error({ err: error, tool: tool.listing.name }, 'A tool failed unexpectedly');
      return refusal(internalError.error(), tool, given);
    }
  }

  #toolsOf({ operations }: Exchange): Tools {
    return (this.#tools ??= new Tools(operations));
  }
}

/** Section 4.4: here a token that is not good is answered with 403. */
async function authenticate(ctx: Context, exchange: Exchange): Promise<Principal> {
  try {
    return await exchange.authenticate(ctx);
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== invalidToken) throw error;
    throw invalidToken.error(error.message, { status: 403, headers: error.headers });
  }
}

interface Caller {
  ctx: Context;
  exchange: Exchange;
  principal: Principal;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
