// Where to connect and as whom, for PostgreSQL's own tools: the password in a file, all else in their environment.
import type { Host } from "../../../hosts/host.ts";
import { withLoginFile } from "../login-file.ts";
import { toolEnvironment, type Target } from "./connection.ts";
import { SourceError } from "../source.ts";

/** Where PostgreSQL's own tools run. */
export type Machine = {
  host: Host;
  /** For files that hold a password for a while; closed to other accounts. */
  scratchFolder: string;
};

type Session = Pick<Machine, "scratchFolder"> & { target: Target; applicationName: string };

/**
 * @param work gets the environment of a tool
 * @throws SourceError when no such file can hold the password
 */
export async function withTarget<T>(
  { scratchFolder, target, applicationName }: Session,
  work: (environment: Record<string, string>) => Promise<T>,
): Promise<T> {
  const environment = toolEnvironment(target, applicationName);
  const { name, password } = target;
  // Then the service's own ~/.pgpass is asked.
  if (password === "") return work(environment);
  if (/[\n\r\0]/.test(password))
    throw new SourceError(
      `The password of ${name} holds a line break, which PostgreSQL's tools cannot read from a file. Choose another one.`,
    );
  return withLoginFile(scratchFolder, "postgres", toPasswordFile(password), (file) =>
    work({ ...environment, PGPASSFILE: file }),
  );
}

/** https://www.postgresql.org/docs/current/libpq-pgpass.html: for every host, port, database and user. */
const toPasswordFile = (password: string): string =>
  `*:*:*:*:${password.replace(/[\\:]/g, "\\$&")}\n`;
