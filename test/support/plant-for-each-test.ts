import type { TestService, TestUser } from './service';
import { startService } from '../support/program';

/** A service and a user for a test file, and a new plant for each test. */
export interface Garden {
  readonly service: TestService;
  readonly user: TestUser;
  readonly plantId: string;
}

/** Must be called at the top of the file; the result is for use within tests. */
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
