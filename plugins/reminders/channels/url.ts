import { type Deliveries, signedHeaders } from '../../deliveries';
import { GONE, type Means, POSTED_AT_ONCE } from './means';

/** Posts events to a person's own program, signed as those for backends are. */
export function urlMeans({ poster }: Deliveries): Means {
  return {
    channel: 'url',
    concurrency: POSTED_AT_ONCE,
    send: async ({ url, secret }, { id, event }) => {
      const outcome = await poster.post(url ?? '', signedHeaders([secret ?? ''], id, event), event);
      return { ...outcome, isGone: outcome.status === GONE };
    },
  };
}
