// Writes RECOVERY.md: how to restore everything in a storage on an empty machine, with Debian's programs and without the service.
import { isEncrypted } from "../../encryption/encrypt.ts";
import { toShownText } from "../../ssh/server-away.ts";
import { sizeInWords } from "../formatting.ts";
import { identityName, packagesOf, quoteWord, restoreCommands } from "./restore-commands.ts";
import type { FileOwner } from "../sources/source.ts";
import { manifestKeyOf } from "../stored-file.ts";
import type { Engine } from "../subject.ts";

export const recoveryName = "RECOVERY.md";

/** The newest good backup of a database or site in a storage. */
export type Recoverable = {
  engine: Engine;
  /** Name in the inventory. */
  name: string;
  server: string;
  backupId: number;
  /** Whether it is a safety backup. */
  isSafety: boolean;
  key: string;
  sizeBytes: number;
  /** Hex SHA-256; null in backups of early versions. */
  checksum: string | null;
  /** The full that it needs; null = it is a full. */
  base: { backupId: number; key: string; checksum: string | null } | null;
  endedAt: Date;
  database?: string | undefined;
  path?: string | undefined;
  owner?: FileOwner | undefined;
  tools: Record<string, string>;
};

const clients = {
  s3: "any S3 client",
  rclone: "`rclone copy` or the service's own program",
  sftp: "any SFTP client (`sftp -r`)",
};

type Page = {
  /** Name in the inventory. */
  provider: string;
  place: string;
  /** The program that reads the storage; null = it is a folder. */
  client: keyof typeof clients | null;
  writtenAt: Date;
  version: string;
  targets: readonly Recoverable[];
};

/** Sites first, because their folders must not exist yet, and databases may be in them. */
const order: readonly Engine[] = [
  "folder",
  "postgres-server",
  "postgres",
  "mysql-server",
  "mysql",
  "sqlite",
];
const kindOf: Record<Engine, string> = {
  folder: "site",
  "postgres-server": "PostgreSQL server",
  postgres: "PostgreSQL database",
  "mysql-server": "MySQL or MariaDB server",
  mysql: "MySQL or MariaDB database",
  sqlite: "SQLite database",
};

const compare = (a: string, b: string) => (a === b ? 0 : a < b ? -1 : 1);
const utc = (at: Date) => `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
const block = (lines: readonly string[]) => ["```sh", ...lines, "```"].join("\n");
const identityNote = `Files that end with \`.age\` are encrypted. Copy a private key that opens them, the line that starts with \`AGE-SECRET-KEY-1\` or the whole
identity file, to \`${identityName}\` in the folder where you run the commands, and delete it afterwards. Quarterdeck doesn't have it.

`;
/** Escapes a text for one line of Markdown, without links, HTML or control sequences of a terminal. */
const plain = (text: string) =>
  toShownText(text.replaceAll(/[\s`]+/g, " "), Infinity).replaceAll(/[\\<&[]/g, String.raw`\$&`);

export function recoveryPage({ provider, place, client, targets, ...page }: Page): string {
  const sorted = targets.toSorted(
    (a, b) =>
      compare(a.server, b.server) ||
      order.indexOf(a.engine) - order.indexOf(b.engine) ||
      compare(a.name, b.name),
  );
  const hasEncrypted = sorted.some(({ key }) => isEncrypted(key));
  const packages = new Set([
    "zstd",
    ...(hasEncrypted ? ["age"] : []),
    ...sorted.flatMap(({ engine }) => packagesOf[engine]),
  ]);
  const where =
    client === null
      ? `Run the commands in this folder (${plain(place)}), or in a copy of it.`
      : `Download ${plain(place)} with ${clients[client]}, keeping the names of its files, and run the commands in the folder that you downloaded to.`;
  return `# Recovery

How to restore the newest good backup of each database and site in the storage “${plain(provider)}” without Quarterdeck.
Quarterdeck ${page.version} wrote this page on ${utc(page.writtenAt)} and replaces it after each run.

The commands are for bash, as root, on a machine with Debian that has none of this data yet. They stop where something is
in the way and overwrite nothing: databases or folders of two servers that have the same name need a machine each. ${where}

Beside each stored file, a manifest with the same name and \`.json\` at its end says what the file is, its SHA-256 and the commands that
restore it. Older backups are restored in the same way.

## 1. Install the programs

${block(["apt-get update", `apt-get install --yes ${[...packages].join(" ")}`])}

Database servers must be running: \`systemctl start postgresql mariadb\`, or \`service\` where there is no systemd.

## 2. Restore

${hasEncrypted ? identityNote : ""}Start a shell of its own (\`bash\`) and run this first, so that it ends with the first command that fails:

${block(["set -e -o pipefail"])}

${sorted.map((target) => section(target, isInSite(target))).join("\n")}`;

  /** Whether a site before it contains the same file. */
  function isInSite({ engine, path, server }: Recoverable): boolean {
    return (
      engine === "sqlite" &&
      sorted.some(
        (site) =>
          site.engine === "folder" &&
          site.server === server &&
          path?.startsWith(`${site.path}/`) === true,
      )
    );
  }
}

function section(target: Recoverable, isInSite: boolean): string {
  const { engine, name, server, key, checksum, base, tools, path } = target;
  const versions = Object.entries(tools).map(([tool, version]) => `${tool} ${version}`);
  const facts = [
    `- Backup ${target.backupId} of ${utc(target.endedAt)}${target.isSafety ? ", made before a restore" : ""}, ${sizeInWords(target.sizeBytes)}`,
    ...(base === null
      ? []
      : [
          `- It holds what has changed since backup ${base.backupId}, and needs both files. The commands unpack that backup beside them, not encrypted, and delete it again. If they stop before that, delete the file that ends with \`.base\`, or run them again.`,
        ]),
    `- Server: ${plain(server)}`,
    ...(versions.length === 0 ? [] : [`- Made by ${plain(versions.join(", "))}`]),
    `- What has to be in it: \`counts\` in \`${manifestKeyOf(key)}\``,
    ...notesOf(target).map((note) => `- ${note}`),
  ];
  const files = base === null ? [{ key, checksum }] : [base, { key, checksum }];
  const check = files.flatMap((file) =>
    file.checksum === null
      ? []
      : [`echo ${quoteWord(`${file.checksum}  ${file.key}`)} | sha256sum --check`],
  );
  // The site's backup has its own copy, of another time.
  const aside =
    isInSite && path !== undefined
      ? [`mv --no-clobber ${quoteWord(path)} ${quoteWord(`${path}.from-site`)}`]
      : [];
  return `### ${plain(name)} (${kindOf[engine]})

${facts.join("\n")}

${block([...check, ...aside, ...restoreCommands({ ...target, file: key, base: base?.key ?? null })])}
`;
}

const needsPostgres =
  "Needs the same version of PostgreSQL or a newer one, and the extensions that the database uses. If Debian's is older: `apt-get install --yes postgresql-common && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh`, then install `postgresql` again.";

const needsMysql = (tools: Recoverable["tools"]): string[] =>
  tools["MySQL"] === undefined
    ? []
    : [
        "Debian has no MySQL. Install it from https://dev.mysql.com/downloads/repo/apt/ and write `mysql` in place of `mariadb`.",
      ];

function notesOf({ engine, tools }: Recoverable): string[] {
  switch (engine) {
    case "postgres-server":
      return [
        needsPostgres,
        "The commands restore all databases of the server, with its roles and their passwords. Leave out what this page says of single databases of the same server. Roles that are there already are reported as errors, and stay.",
        "Tablespaces are not there yet: create their folders before `globals.sql`, or the databases in them are refused.",
      ];
    case "postgres":
      return [
        needsPostgres,
        "Everything belongs to the role postgres then. Policies name roles; create those first with `CREATE ROLE`.",
      ];
    case "mysql-server":
      return [
        ...needsMysql(tools),
        "The commands restore all databases of the server, with its accounts and their passwords. Leave out what this page says of single databases of the same server. Accounts that are there already keep their passwords, and are given the rights of the backup.",
        "Rights to something that is not there are reported as errors, and are not given.",
      ];
    case "mysql":
      return [
        ...needsMysql(tools),
        "Accounts are not in the backup; create those of the application and the definers of its views and routines.",
      ];
    case "sqlite":
    case "folder":
      return [];
  }
}
