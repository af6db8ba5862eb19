import { randomUUID } from 'node:crypto';

import type {
  CallToolResult,
  JSONRPCNotification,
  JSONRPCRequest,
} from '@modelcontextprotocol/server';

import { BoundedMap } from '../../src/core/bounded-map';
import type { ToolAnswer } from './results';

/** An answer over HTTP; without JSON when there is nothing to say. */
export interface Answer {
  status: number;
  json: string;
}

/** A message, and of its headers those that the protocol judges. */
export interface Sent<Message = JSONRPCRequest | JSONRPCNotification> {
  message: Message;
  headers: Readonly<Record<string, string>>;
}

/** A call of a tool without its arguments, which are nobody's to judge but the tool's. */
type ToolCall = Sent<JSONRPCRequest>;

/** How the protocol's package answers a call whose tool has this result. */
type AskPackage = (call: ToolCall, result: CallToolResult) => Promise<Answer>;

/** The package's answer in parts, some of which are slots. */
interface Frame {
  status: number;
  parts: readonly string[];
}

/** What is put into a frame where the answers to single calls differ; nobody can guess it. */
const ID = randomUUID();
const TEXT = randomUUID();
const STRUCTURED = { [randomUUID()]: true };
/** The same as it stands in JSON. */
const SLOTS = {
  id: JSON.stringify(ID),
  text: JSON.stringify(TEXT),
  structured: JSON.stringify(STRUCTURED),
};
const SLOT = new RegExp(`(${Object.values(SLOTS).join('|').replace(/[{}]/g, '\\$&')})`);

const RESULTS = {
  structured: { content: [{ type: 'text', text: TEXT }], structuredContent: STRUCTURED },
  problem: { content: [{ type: 'text', text: TEXT }], isError: true },
} satisfies Record<string, CallToolResult>;

type Kind = keyof typeof RESULTS;

/** More than the ways in which the clients of one process put their calls at a time. */
const MAX_KEPT = 1000;
/** Ways that take longer to tell apart are not kept: nobody shall fill the memory with them. */
const MAX_KEY = 2000;

/**
 * What the protocol's package writes around the results of tools. That depends on how a call is
 * put, not on its arguments nor on what the tool answers, and clients put all their calls the same
 * way: so the package, which goes through each message many times, is asked once for each way.
 */
export class Frames {
  readonly #kept = new BoundedMap<string, Frame>(MAX_KEPT);

  constructor(private readonly askPackage: AskPackage) {}

  /** The answer to a call; its tool is run only where the package has nothing against the call. */
  async answer(call: ToolCall, run: () => Promise<ToolAnswer>): Promise<Answer> {
    const frame = await this.#frame(call, 'structured');
    if (!takesResult(frame)) return filled(frame, call, '');
    const result = await run();
    return 'structured' in result
      ? filled(frame, call, result.structured)
      : filled(await this.#frame(call, 'problem'), call, result.problem);
  }

  async #frame({ message, headers }: ToolCall, kind: Kind): Promise<Frame> {
    const key = keyOf([kind, { ...message, id: undefined }, headers]);
    const kept = key === undefined ? undefined : this.#kept.get(key);
    if (kept) return kept;
    const anybodys = { message: { ...message, id: ID }, headers };
    const { status, json } = await this.askPackage(anybodys, RESULTS[kind]);
    const frame = { status, parts: json.split(SLOT) };
    if (key !== undefined && takesResult(frame)) this.#kept.set(key, frame);
    return frame;
  }
}

function keyOf(way: unknown): string | undefined {
  const key = JSON.stringify(way);
  return key.length <= MAX_KEY ? key : undefined;
}

/** Whether a frame is that of a result, rather than a refusal. */
function takesResult({ parts }: Frame): boolean {
  return parts.includes(SLOTS.text);
}

function filled({ status, parts }: Frame, { message }: ToolCall, text: string): Answer {
  const fills = new Map([
    [SLOTS.id, JSON.stringify(message.id)],
    [SLOTS.text, JSON.stringify(text)],
    [SLOTS.structured, text],
  ]);
  return { status, json: parts.map((part) => fills.get(part) ?? part).join('') };
}
