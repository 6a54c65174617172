// What a worker inherits from the service: enough to run programs, none of the service's secrets.

const inherited = new Set(["HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"]);

/**
 * @param environment the service's own
 * @param runtimeFolder where the service's Node is; last in PATH, so that it serves where there is no other
 */
export function workerEnvironment(
  environment: Record<string, string | undefined>,
  runtimeFolder: string,
): Record<string, string> {
  const path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  const passed: Record<string, string> = { PATH: `${path}:${runtimeFolder}` };
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && (inherited.has(name) || name.startsWith("LC_")))
      passed[name] = value;
  return passed;
}
