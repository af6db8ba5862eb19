import type { Finding } from '../../plugins/check';
import type { Servers } from '../../servers';
import type { App } from '../app';

/** A check that needs MongoDB and Redis. */
export type OnlineCheck = (running: { app: App; servers: Servers }) => Promise<Finding[]>;
