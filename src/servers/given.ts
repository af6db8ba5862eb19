import { checkMongodbUri } from './mongodb-uri';
import { redisAnswers } from './redis';

/** The servers that the operator brought, and a sentence on each. */
export interface Given {
  mongodbUri: string | undefined;
  redisUrl: string | undefined;
  notes: string[];
}

/** Checks what the operator brought. An empty value is none: that is how shells unset things. */
export async function checkGiven(config: {
  mongodbUri?: string | undefined;
  redisUrl?: string | undefined;
}): Promise<Given> {
  const notes: string[] = [];
  let mongodbUri: string | undefined;
  if (config.mongodbUri !== undefined && config.mongodbUri !== '') {
    mongodbUri = await checkMongodbUri(config.mongodbUri);
    notes.push('MongoDB is the one of MONGODB_URI.');
  }
  const redisUrl = config.redisUrl === '' ? undefined : config.redisUrl;
  if (redisUrl !== undefined) {
    // One that is away now may come back: limits do without it meanwhile.
    const state = (await redisAnswers(redisUrl)) ? 'is' : 'does not answer now; it is';
    notes.push(`Redis ${state} the one of REDIS_URL.`);
  }
  return { mongodbUri, redisUrl, notes };
}
