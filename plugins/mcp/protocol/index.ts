/** The protocol, which only servers load. */
export { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
export { errorReply, preload } from './exchange';
export { handleMessage } from './messages';
