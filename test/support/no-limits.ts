/** Settings under which tests of other things than limits never meet a limit. */
export const NO_LIMITS = {
  RATE_LIMIT_PLANTS_CREATE_MAX: '1000000',
  RATE_LIMIT_WRITES_MAX: '1000000',
  RATE_LIMIT_READS_MAX: '1000000',
  RATE_LIMIT_BACKEND_MAX: '1000000',
  RATE_LIMIT_AUTH_FAILURES_MAX: '1000000',
};
