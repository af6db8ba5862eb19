import { redisVersion } from '../../servers';
import { fault, good, type OnlineCheck } from './check';

/** Whether there is a Redis that answers. */
export const redis: OnlineCheck = async ({ servers: { redisUrl } }) => {
  if (redisUrl === undefined)
    return [good('Redis', 'none: each process counts rate limits itself')];
  const version = await redisVersion(redisUrl);
  if (version !== undefined) return [good('Redis', `version ${version}`)];
  return [
    fault(
      'Redis',
      'Redis does not answer, so limits are counted by process: start it, or check REDIS_URL.',
    ),
  ];
};
