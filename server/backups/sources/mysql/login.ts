// Passes user and password to the tools of MySQL and MariaDB in an option file.
import { givenFile } from "../../../hosts/given-file.ts";
import type { Command, CommandEnd, Host } from "../../../hosts/host.ts";

export type Login = { user: string; password: string };

/** Runs one of the tools on the host. */
export const runAs = (
  host: Host,
  login: Login,
  { argv: [program, ...rest], ...command }: Command,
): Promise<CommandEnd> =>
  host.run({
    ...command,
    given: [toOptionFile(login)],
    // This has to be the first option.
    argv: [program, `--defaults-extra-file=${givenFile(0)}`, ...rest],
    // The account's own .my.cnf is read after this file and would override it.
    environment: { HOME: "/nonexistent" },
  });

/** https://mariadb.com/kb/en/configuring-mariadb-with-option-files/: in quotes, `#` begins no comment and a backslash escapes. */
const toOptionFile = ({ user, password }: Login): string =>
  `[client]\n${user === "" ? "" : `user=${quoted(user)}\n`}${password === "" ? "" : `password=${quoted(password)}\n`}`;

const escapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const quoted = (text: string): string =>
  `"${text.replace(/[\\"]/g, "\\$&").replace(/[\n\r\t]/g, (found) => escapes[found] ?? "")}"`;
