// Determines which entries of an archive an account may restore, and which only a superuser may.
import type pg from "pg";
import type { Archive, Entry } from "./archive.ts";
import { foreignMembers } from "./extension-members.ts";
import { beyondCondition } from "./restorable.ts";

type Rights = {
  isSuperuser: boolean;
  ownsPublic: boolean;
  /** Whether the account may give the schema to the owner that the archive names, see `ownerOfPublic`. */
  givesPublic: boolean;
  /** Names of extensions that the account may not create and the database does not have. */
  beyond: readonly string[];
  /** Entries of objects of extensions that the account may not change. */
  members: readonly Entry[];
};

export async function readRights(
  client: pg.Client,
  { contents, entries }: Pick<Archive, "contents" | "entries">,
): Promise<Rights & { publicOwner: string | null }> {
  const { rows } = await client.query<
    Omit<Rights, "beyond" | "members"> & { publicOwner: string | null }
  >(
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
  const names = beyond.map(({ name }) => name);
  return {
    ...(own ?? { isSuperuser: false, ownsPublic: false, givesPublic: false, publicOwner: null }),
    beyond: names,
    members: own?.isSuperuser === true ? [] : await foreignMembers(client, entries(), names),
  };
}

/** Returns the extension that a line of the contents creates, or null. */
const extensionOf = (line: string): string | null =>
  /^\S+ \d+ \d+ EXTENSION - (.+?) *$/.exec(line)?.[1] ?? null;

/**
 * Whether an entry has to be left out because only a superuser may restore it. Extensions have comments that the server sets by
 * itself: with those, no other account could restore a database with an extension.
 */
export const isBeyond = (
  line: string,
  { isSuperuser, ownsPublic, givesPublic, beyond, members }: Rights,
): boolean =>
  !isSuperuser &&
  (beyond.includes(extensionOf(line) ?? "") ||
    members.some((entry) => entry.line === line) ||
    /^\S+ \d+ \d+ COMMENT - EXTENSION /.test(line) ||
    (!ownsPublic && /^\S+ \d+ \d+ (?:COMMENT|ACL) - SCHEMA public /.test(line)) ||
    (!(ownsPublic && givesPublic) && ownerOfPublic(line) !== null));

/** Returns the owner that a line of the contents gives to `public`, or null. The default owner has no such line. */
const ownerOfPublic = (line: string): string | null =>
  /^\S+ \d+ \d+ SCHEMA - public (.+?) *$/.exec(line)?.[1] ?? null;

/**
 * Whether the schema `public` stays different from the backup's.
 * @param server before 15, the schema belongs to a superuser in every new database, and newer tools write its default privileges
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

/** @returns the lines of the entries to restore; null = everything */
export function listFor(contents: string[], rights: Rights): string[] | null {
  const kept = contents.filter((line) => !isBeyond(line, rights));
  return kept.length === contents.length ? null : kept;
}
