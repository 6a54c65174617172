// What of an archive an account may restore, and what it has to leave to a superuser.
import type pg from "pg";
import { beyondCondition } from "./restorable.ts";

type Rights = {
  isSuperuser: boolean;
  ownsPublic: boolean;
  /** Whether it may give the schema to whom the archive names, see `ownerOfPublic`. */
  givesPublic: boolean;
  /** Names of extensions that the account may not create and the database does not have. */
  beyond: readonly string[];
};

/** @param contents of the archive */
export async function readRights(
  client: pg.Client,
  contents: readonly string[],
): Promise<Rights & { publicOwner: string | null }> {
  const { rows } = await client.query<Omit<Rights, "beyond"> & { publicOwner: string | null }>(
    `select rolsuper as "isSuperuser",
       coalesce((select pg_has_role(nspowner, 'usage') from pg_namespace where nspname = 'public'), true) as "ownsPublic",
       (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'public') as "publicOwner",
       coalesce((select pg_has_role(oid, case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end)
         from pg_roles where rolname = $1), true) as "givesPublic"
     from pg_roles where rolname = current_user`,
    [contents.map(ownerOfPublic).find((owner) => owner !== null) ?? null],
  );
  const { rows: beyond } = await client.query<{ name: string }>(
    `select wanted as name from unnest($1::text[]) as wanted where ${beyondCondition("wanted")} and wanted not in (select extname from pg_extension)`,
    [contents.flatMap((line) => extensionOf(line) ?? [])],
  );
  const [own] = rows;
  return {
    ...(own ?? { isSuperuser: false, ownsPublic: false, givesPublic: false, publicOwner: null }),
    beyond: beyond.map(({ name }) => name),
  };
}

/** The extension that a line of the contents creates, or null. */
const extensionOf = (line: string): string | null =>
  /^\S+ \d+ \d+ EXTENSION - (.+?) *$/.exec(line)?.[1] ?? null;

/**
 * What only a superuser may set, and what the server sets by itself: with it, no other account could restore a
 * database that has an extension.
 */
export const isBeyond = (
  line: string,
  { isSuperuser, ownsPublic, givesPublic, beyond }: Rights,
): boolean =>
  !isSuperuser &&
  (beyond.includes(extensionOf(line) ?? "") ||
    /^\S+ \d+ \d+ COMMENT - EXTENSION /.test(line) ||
    (!ownsPublic && /^\S+ \d+ \d+ (?:COMMENT|ACL) - SCHEMA public /.test(line)) ||
    (!(ownsPublic && givesPublic) && ownerOfPublic(line) !== null));

/** Whom a line of the contents gives the schema `public` to, or null. Only one that is not as in a new database has such a line. */
const ownerOfPublic = (line: string): string | null =>
  /^\S+ \d+ \d+ SCHEMA - public (.+?) *$/.exec(line)?.[1] ?? null;

/**
 * Whether the schema `public` stays otherwise than the backup has it.
 * @param server before 15, it belongs to a superuser in every new database, and newer tools name what is usual there
 */
export const leavesPublic = (
  contents: readonly string[],
  rights: Rights & { publicOwner: string | null },
  server: { major: number },
): boolean =>
  contents.some((line) => {
    if (!isBeyond(line, rights)) return false;
    const owner = ownerOfPublic(line);
    return owner === null
      ? server.major >= 15 && /^\S+ \d+ \d+ ACL - SCHEMA public /.test(line)
      : owner !== rights.publicOwner;
  });

/** @returns the lines of what is to be restored; null stands for everything */
export function listFor(contents: string[], rights: Rights): string[] | null {
  const kept = contents.filter((line) => !isBeyond(line, rights));
  return kept.length === contents.length ? null : kept;
}
