/** Environment of the service's commands. */
type Seen = { PATH: string; HOME: string };

/**
 * Returns the environment of `ssh`: that of commands, and the socket of an agent for its keys.
 * @param environment of the service
 */
export function sshEnvironment(
  seen: Seen,
  { SSH_AUTH_SOCK: agent }: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return { ...seen, LC_ALL: "C", ...(agent && { SSH_AUTH_SOCK: agent }) };
}
