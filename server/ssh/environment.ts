/** What commands of the service see. */
type Seen = { PATH: string; HOME: string };

/** What `ssh` sees: the same, and an agent for its keys. @param environment of the service */
export function sshEnvironment(
  seen: Seen,
  { SSH_AUTH_SOCK: agent }: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return { ...seen, LC_ALL: "C", ...(agent && { SSH_AUTH_SOCK: agent }) };
}
