/** Names of variables that a verifier's process may need and that contain no secret. */
const ALLOWED = new RegExp(
  `^(?:${[
    "PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|TEMP|TMP|TZ|LANG|LANGUAGE|LC_[A-Z]+|TERM|NO_COLOR|FORCE_COLOR",
    "NODE_OPTIONS|NODE_PATH|NODE_ENV|NODE_EXTRA_CA_CERTS|NODE_NO_WARNINGS|NODE_V8_COVERAGE|NODE_COMPILE_CACHE",
    "LD_LIBRARY_PATH|LD_PRELOAD|DYLD_LIBRARY_PATH|[A-Z]+SAN_OPTIONS|OMP_NUM_THREADS|CUDA_VISIBLE_DEVICES",
    "SSL_CERT_FILE|SSL_CERT_DIR|XDG_[A-Z]+_(?:HOME|DIRS?)|NLTK_DATA",
    "PYTHON[A-Z]+|VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV|EXE)|PYENV_(?:ROOT|VERSION)|HF_HOME|HF_HUB_OFFLINE",
    "UV_(?:CACHE_DIR|OFFLINE|PROJECT|PROJECT_ENVIRONMENT|PYTHON|PYTHON_INSTALL_DIR|NO_SYNC|FROZEN)",
    "HONE_SANDBOX|HONE_SANDBOX_URL|HONE_FROM_DIST|HONE_DEVICE|HONE_THREADS|JITI_[A-Z_]+",
    "https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY",
  ].join("|")})$`,
);

/** A user or password in a URL. */
const CREDENTIALS = /:\/\/[^/\s]*@/;

/**
 * The environment of a judging process: the variables that programs need to run, and those that the recipe names
 * (`verification.env`). User modules run there, and their output is logged: tokens and passwords of this process's
 * environment are not passed on.
 */
export function verifierEnvironment(
  env: NodeJS.ProcessEnv,
  named: readonly string[] = [],
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name, value = ""]) => named.includes(name) || (ALLOWED.test(name) && !CREDENTIALS.test(value)),
  );
  return Object.fromEntries(kept);
}
