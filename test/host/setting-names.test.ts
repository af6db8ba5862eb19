import { readSettings, SettingsError, loadPlugins } from '../support/program';

const plugins = loadPlugins();

/** The faults of an environment, one per line; none if it is valid. */
function faultsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readSettings(plugins, env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.message.split('\n');
    throw error;
  }
}

test.each([
  ['MONGODB_URL', 'MONGODB_URI'],
  ['MONGO_URL', 'MONGODB_URI'],
  ['MONGO_URI', 'MONGODB_URI'],
  ['URI_MONGODB', 'MONGODB_URI'],
  ['mongodb_uri', 'MONGODB_URI'],
  ['MONGODB_URL_FILE', 'MONGODB_URI_FILE'],
  ['MONGODB_BINARY', 'MONGOD_BINARY'],
  ['REDIS_URI', 'REDIS_URL'],
  ['REDISURL', 'REDIS_URL'],
  ['DATADIR', 'DATA_DIR'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['LEVEL_LOG', 'LOG_LEVEL'],
  ['TRUSTED_PROXY', 'TRUST_PROXY'],
  ['TLS_CERT', 'TLS_CERT_FILE'],
  ['TLS_KEY_PATH', 'TLS_KEY_FILE'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['RATE_LIMIT_READS', 'RATE_LIMIT_READS_MAX'],
  ['TIER_FREE_PLANT', 'TIER_FREE_PLANTS'],
  ['SHUTDOWN_TIMEOUT_MS', 'SHUTDOWN_TIMEOUT_SECONDS'],
  ['STARTUP_TIMEOUT', 'STARTUP_TIMEOUT_SECONDS'],
  ['LOG_LEVEL_FILE', 'LOG_LEVEL'],
  ['PORT_FILE', 'PORT'],
])('%s is refused, and %s suggested', (name, intended) => {
  expect(faultsOf({ [name]: 'x' })).toEqual([`${name} is not known; did you mean ${intended}?`]);
});

test('an empty variable with a similar name is ignored', () => {
  expect(faultsOf({ MONGODB_URL: '' })).toEqual([]);
});

/** Variables of shells, Node, npm, containers, their orchestrators and other programs. */
const FOREIGN = `
  HOME HOSTNAME HOSTTYPE HOSTS HOST_IP HOSTFILE PATH PORTS PORT_HTTP POST LOGNAME LOG LOG_DIR LOG_FILE LOG_FORMAT
  LANG LANGUAGE LC_ALL LS_COLORS TERM SHELL SHLVL PWD OLDPWD USER MAIL EDITOR TZ TMPDIR TEMP DISPLAY
  XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR XDG_SESSION_ID
  DATABASE DATABASE_URL DATABASE_URI DATA DATA_HOME DATA_ROOT DB_URI PGDATA TEST_MONGODB_URI TEST_REDIS_URL
  NODE_ENV NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_VERSION YARN_VERSION
  npm_config_cache npm_config_loglevel npm_config_registry npm_lifecycle_event npm_package_json
  npm_package_name npm_node_execpath npm_command INIT_CWD COLOR
  SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy
  KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT KUBERNETES_PORT_443_TCP_ADDR
  MONGODB_PORT MONGODB_SERVICE_HOST MONGODB_SERVICE_PORT MONGODB_PORT_27017_TCP MONGODB_PORT_27017_TCP_PROTO
  REDIS_PORT REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT_6379_TCP_ADDR REDIS_HOST REDIS_PASSWORD
  MONGO_INITDB_ROOT_USERNAME MONGO_INITDB_ROOT_PASSWORD ME_CONFIG_MONGODB_URL REDISCLI_AUTH
  INVOCATION_ID JOURNAL_STREAM LISTEN_FDS NOTIFY_SOCKET CREDENTIALS_DIRECTORY STATE_DIRECTORY
  RUNTIME_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY SYSTEMD_EXEC_PID MAINPID
  CI GITHUB_ACTIONS GITHUB_TOKEN GITLAB_CI DYNO SOURCE_VERSION SSH_AUTH_SOCK SSH_CONNECTION SUDO_USER
  DOCKER_HOST COMPOSE_PROJECT_NAME VIRTUAL_ENV CONDA_PREFIX JAVA_HOME GOPATH CARGO_HOME RUST_LOG MAKEFLAGS
`;

test('variables of other programs are ignored', () => {
  const names = FOREIGN.trim().split(/\s+/);
  expect(faultsOf(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
});
