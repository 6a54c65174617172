// The commands that restore a stored file with Debian's own programs, on a machine that has none of its content yet.
import { posix } from "node:path";
import { isEncrypted } from "../../encryption/encrypt.ts";
import type { FileOwner } from "../sources/source.ts";
import type { Engine } from "../subject.ts";

type Restored = {
  engine: Engine;
  /** Path of the stored file, relative to the folder where the commands run. */
  file: string;
  /** Path of the full backup that it needs, likewise; null = the file is a full backup. */
  base: string | null;
  /** Name in the inventory, used for a database whose own name is unknown. */
  name: string;
  database?: string | undefined;
  path?: string | undefined;
  owner?: FileOwner | undefined;
};

const escapeControl = (character: string) =>
  `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

/** Quotes a value as one word for bash, on one line. */
export const quoteWord = (word: string): string => {
  if (/^[\w./:@%+=,-]+$/.test(word) && !word.startsWith("-")) return word;
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what this quotes
  const controls = /[\u0000-\u001f\u007f]/g;
  // A line break in a name would start a new line of the recovery page and could end its code block.
  return controls.test(word)
    ? `$'${word.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll(controls, escapeControl)}'`
    : `'${word.replaceAll("'", String.raw`'\''`)}'`;
};

/** Debian packages that each engine needs in addition to zstd. */
export const packagesOf: Record<Engine, readonly string[]> = {
  postgres: ["postgresql"],
  "postgres-server": ["postgresql", "tar"],
  mysql: ["mariadb-server"],
  "mysql-server": ["mariadb-server", "tar"],
  sqlite: ["sqlite3"],
  folder: ["tar"],
};

/** File with the private key for encrypted files, in the folder where the commands run. */
export const identityName = "identity.txt";

/** Quotes a file name; one that begins with a dash would be read as an option. */
const wordOf = (name: string): string => quoteWord(name.startsWith("-") ? `./${name}` : name);

/** @param options of zstd @param to file for the content; default: standard output */
function unpacking(file: string, options: string, to?: string): string {
  const output = to === undefined ? "" : ` -o ${to}`;
  return isEncrypted(file)
    ? `age --decrypt --identity ${identityName} ${wordOf(file)} | zstd ${options}${output}`
    : `zstd ${options} ${wordOf(file)}${output}`;
}

/** Returns lines for bash. They overwrite nothing but files that an interrupted run of them left. */
export function restoreCommands(restored: Restored): string[] {
  const { file, base } = restored;
  const content = wordOf(`${file}.base`);
  const from = base === null ? "" : ` --long=31 --patch-from=${content}`;
  const commands = contentCommands(restored, {
    unpacked: unpacking(file, `-dc${from}`),
    unpackedTo: (path) => unpacking(file, `-d --no-progress${from}`, path),
  });
  return base === null
    ? commands
    : [
        `rm --force ${content}`,
        unpacking(base, "-d --no-progress", content),
        ...commands,
        `rm ${content}`,
      ];
}

type Unpacking = { unpacked: string; unpackedTo(path: string): string };

function contentCommands(
  { engine, name, database = name, path = `./${name.replaceAll("/", "-")}`, owner }: Restored,
  { unpacked, unpackedTo }: Unpacking,
): string[] {
  switch (engine) {
    case "postgres": {
      // `pg_restore` reads a name with "=" or ":" as a connection string.
      const connection = /^[\w-]+$/.test(database)
        ? database
        : quoteWord(`dbname='${database.replaceAll(/['\\]/g, String.raw`\$&`)}'`);
      return [
        `runuser -u postgres -- createdb --template=template0 --encoding=UTF8 -- ${quoteWord(database)}`,
        `${unpacked} | runuser -u postgres -- pg_restore --dbname=${connection} --no-owner --no-privileges --exit-on-error --single-transaction`,
      ];
    }
    case "postgres-server": {
      const folder = quoteWord(`./${name.replaceAll("/", "-")}.server`);
      const archives = `${folder}/databases`;
      const restoring = "runuser -u postgres -- pg_restore --exit-on-error --dbname=postgres";
      return [
        `mkdir ${folder}`,
        `${unpacked} | tar --extract -C ${folder}`,
        // Some of its roles already exist: psql reports an error for these and continues.
        `runuser -u postgres -- psql --no-psqlrc --quiet --dbname=postgres <${folder}/globals.sql`,
        // The database `postgres` already exists, too, and is empty.
        `[ ! -e ${archives}/postgres.dump ] || ${restoring} --single-transaction <${archives}/postgres.dump`,
        `for dump in ${archives}/*.dump; do [ "\${dump##*/}" = postgres.dump ] || ${restoring} --create <"$dump"; done`,
      ];
    }
    case "mysql": {
      const identifier = `\`${database.replaceAll("`", "``")}\``;
      return [
        `mariadb --execute=${quoteWord(`CREATE DATABASE ${identifier}`)}`,
        `${unpacked} | mariadb --default-character-set=utf8mb4 --max-allowed-packet=1G --binary-mode --comments --database=${quoteWord(database)}`,
      ];
    }
    case "mysql-server": {
      const folder = quoteWord(`./${name.replaceAll("/", "-")}.server`);
      const loading =
        "mariadb --default-character-set=utf8mb4 --max-allowed-packet=1G --binary-mode --comments";
      // Folder names are the percent-encoded names of databases.
      const each = (work: string) =>
        `for d in ${folder}/databases/*; do [ -d "$d" ] || continue; n=\${d##*/}; printf -v n '%b' "\${n//%/\\\\x}"; ${work}; done`;
      return [
        `mkdir ${folder}`,
        `${unpacked} | tar --extract -C ${folder}`,
        `mariadb --default-character-set=utf8mb4 <${folder}/accounts.sql`,
        each(
          `mariadb --default-character-set=utf8mb4 --execute="CREATE DATABASE \\\`\${n//\\\`/\\\`\\\`}\\\`"; cat "$d"/0-*.sql "$d"/1-*.sql | ${loading} --database="$n"`,
        ),
        // Views come last, because they may read tables of all databases.
        each(
          `[ ! -e "$d"/2-views-000001.sql ] || cat "$d"/0-*.sql "$d"/2-*.sql | ${loading} --database="$n"`,
        ),
        // Grants that are not permitted, or whose object no longer exists, are reported as errors.
        `mariadb --default-character-set=utf8mb4 --force <${folder}/grants.sql`,
      ];
    }
    case "sqlite":
      return [
        `mkdir -p ${quoteWord(posix.dirname(path))}`,
        unpackedTo(quoteWord(path)),
        ...(owner === undefined
          ? []
          : [
              `chown ${owner.uid}:${owner.gid} ${quoteWord(path)}`,
              `chmod ${owner.mode.toString(8)} ${quoteWord(path)}`,
            ]),
        `sqlite3 ${quoteWord(path)} 'PRAGMA integrity_check'`,
      ];
    case "folder":
      return [
        `mkdir -p ${quoteWord(posix.dirname(path))}`,
        // An inherited setgid bit would stay on restored folders of mode 700.
        `mkdir ${quoteWord(path)} && chmod g-s ${quoteWord(path)}`,
        `${unpacked} | tar --extract --same-permissions --same-owner --numeric-owner --xattrs --xattrs-include='*' --acls --delay-directory-restore -C ${quoteWord(path)}`,
      ];
  }
}
