/** The protocol, as the endpoint loads it with the first message. */
export { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
export { errorReply } from './exchange';
export { handleMessage, warmUp } from './messages';
