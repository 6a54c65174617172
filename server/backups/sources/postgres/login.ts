// Where to connect and as whom, for PostgreSQL's own tools: the password in a file, all else in their environment.
import { givenFile, withGivenFile } from "../../../hosts/given-file.ts";
import type { Command, CommandEnd, Host } from "../../../hosts/host.ts";
import { toolEnvironment, type Target } from "./connection.ts";
import { SourceError } from "../source.ts";

type Session = { host: Host; target: Target; applicationName: string };

/**
 * Runs one of the tools where the host is.
 * @throws SourceError when no such file can hold the password
 */
export async function runTool(
  { host, target, applicationName }: Session,
  command: Command,
): Promise<CommandEnd> {
  const environment = toolEnvironment(target, applicationName);
  const { name, password } = target;
  // Then the account's own ~/.pgpass is asked.
  if (password === "") return host.run({ ...command, environment });
  if (/[\n\r\0]/.test(password))
    throw new SourceError(
      `The password of ${name} holds a line break, which PostgreSQL's tools cannot read from a file. Choose another one.`,
    );
  return host.run(
    withGivenFile(toPasswordFile(password), {
      ...command,
      environment: { ...environment, PGPASSFILE: givenFile },
    }),
  );
}

/** https://www.postgresql.org/docs/current/libpq-pgpass.html: for every host, port, database and user. */
const toPasswordFile = (password: string): string =>
  `*:*:*:*:${password.replace(/[\\:]/g, "\\$&")}\n`;
