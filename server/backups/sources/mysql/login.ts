// User and password for the tools of MySQL and MariaDB, as an option file.
import { withLoginFile } from "../login-file.ts";

export type Login = { user: string; password: string };

/** @param work gets the argument that must stand first, and the environment that goes with it */
export const withLogin = <T>(
  scratchFolder: string,
  login: Login,
  work: (first: string, environment: Record<string, string>) => Promise<T>,
): Promise<T> =>
  withLoginFile(scratchFolder, "mysql", toOptionFile(login), (file) =>
    // The account's own .my.cnf is read after this file and would win; there is none in the scratch folder.
    work(`--defaults-extra-file=${file}`, { HOME: scratchFolder }),
  );

/** https://mariadb.com/kb/en/configuring-mariadb-with-option-files/: in quotes `#` is no comment, a backslash escapes. */
const toOptionFile = ({ user, password }: Login): string =>
  `[client]\n${user === "" ? "" : `user=${quoted(user)}\n`}${password === "" ? "" : `password=${quoted(password)}\n`}`;

const escapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const quoted = (text: string): string =>
  `"${text.replace(/[\\"]/g, "\\$&").replace(/[\n\r\t]/g, (found) => escapes[found] ?? "")}"`;
