import { setClock } from '../../../test/support/clock';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import type { CareItem, DueCare } from '../schema';

/** A user with plants and schedules, and the due care that they get. */
export interface CareUser extends TestUser {
  schedule(plantId: string, fields: object): Promise<{ id: string }>;
  due(query?: string): Promise<DueCare>;
  /** In short: plant, care and day. */
  days(query?: string): Promise<string[]>;
}

export const ALWAYS = '?dueBy=9999-12-31';

/** A user at a moment. */
export async function careUser(
  service: TestService,
  now: string,
  timezone = 'UTC',
): Promise<CareUser> {
  setClock(now);
  const user = await service.user({ timezone, expiresInSeconds: 10 * 365 * 24 * 60 * 60 });
  const due = async (query = ''): Promise<DueCare> =>
    (await user.get(`/api/care${query}`).expect(200)).body as DueCare; // Compared by its values.
  return {
    ...user,
    schedule: async (plantId, fields) => {
      const body = { care: 'watered', ...fields };
      const answer = await user.post(`/api/plants/${plantId}/schedules`, body).expect(201);
      return { id: String(bodyOf(answer)['id']) };
    },
    due,
    days: async (query = '') => (await due(query)).items.map(inShort),
  };
}

export function inShort({ plantName, care, label, dueOn }: CareItem): string {
  return `${plantName} ${label ?? care} ${dueOn}`;
}
