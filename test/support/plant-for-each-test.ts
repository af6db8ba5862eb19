import type { TestService, TestUser } from './service';
import { startService } from '../support/program';

/** A service and a user of it for a file of tests, and a new plant of theirs for each test. */
export interface Garden {
  readonly service: TestService;
  readonly user: TestUser;
  readonly plantId: string;
}

/** To be called at the top of the file; what it answers can be used within the tests. */
export function plantForEachTest(): Garden {
  let service: TestService;
  let user: TestUser;
  let plantId: string;
  beforeAll(async () => {
    service = await startService();
    user = await service.user();
  });
  beforeEach(async () => {
    plantId = (await user.plant()).id;
  });
  afterAll(() => service.close());
  return {
    get service() {
      return service;
    },
    get user() {
      return user;
    },
    get plantId() {
      return plantId;
    },
  };
}
