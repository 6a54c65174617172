import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  hasPostgresServer,
  startPostgresServer,
  type PostgresServer,
} from "../backups/testing/postgres-server.ts";
import { makeCertificate } from "../net/testing/receivers.ts";
import { freePort } from "../testing/free-port.ts";
import { openOwnServer } from "./own-server.ts";

const me = { user: "me", password: "m e:" };
const guarded = { user: "guarded", password: "guarded" };

describe.skipIf(!hasPostgresServer)("the operator's own PostgreSQL", () => {
  let server: PostgresServer;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "quarterdeck-own-"));
    const certificate = await makeCertificate("localhost");
    await writeFile(join(folder, "authority.pem"), certificate.cert);
    await writeFile(join(folder, "other.pem"), (await makeCertificate("localhost")).cert);
    server = await startPostgresServer({
      certificate,
      rules: "hostnossl all guarded all reject",
    });
    await server.query(
      "postgres",
      "create role me login password 'm e:'; create role guarded login password 'guarded'",
    );
    await server.createDatabase("own", "me");
    await server.createDatabase("kept", "guarded");
    await server.query(
      "postgres",
      "create database old template template0 encoding 'LATIN1' locale 'C' owner me",
    );
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** Whether a connection with the options of `openOwnServer` is encrypted. */
  async function isEncrypted(url: string): Promise<boolean> {
    const client = new pg.Client(await openOwnServer(url));
    await client.connect();
    onTestFinished(() => client.end());
    const { rows } = await client.query<{ ssl: boolean }>(
      "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
    );
    return rows[0]?.ssl ?? false;
  }

  const byName = (url: string) => url.replace("127.0.0.1", "localhost");

  test.each([
    ["", true],
    ["?sslmode=disable", false],
    ["?sslmode=prefer", true],
    ["?sslmode=require", true],
    ["?sslmode=require&sslrootcert=AUTHORITY", true],
    ["?sslmode=verify-ca&sslrootcert=AUTHORITY", true],
  ])("is reached with “%s”, encrypted: %s", async (query, encrypted) => {
    const url = server.url("own", me) + query.replace("AUTHORITY", join(folder, "authority.pem"));
    expect(await isEncrypted(url)).toBe(encrypted);
  });

  test("is reached under the name in its certificate", async () => {
    const query = `?sslmode=verify-full&sslrootcert=${folder}/authority.pem`;
    expect(await isEncrypted(byName(server.url("own", me)) + query)).toBe(true);
    expect(await isEncrypted(byName(server.url("kept", guarded)))).toBe(true);
  });

  test("is reached without TLS if it has none and TLS is not required", async () => {
    const plain = await startPostgresServer();
    onTestFinished(() => plain.stop());
    expect(await isEncrypted(plain.url("postgres"))).toBe(false);
    await expect(openOwnServer(`${plain.url("postgres")}?sslmode=require`)).rejects.toThrow(
      /has no TLS, which sslmode in DATABASE_URL asks for\. Turn “ssl” on there, or remove sslmode\./,
    );
  });

  test.each<[string, () => string | Promise<string>, RegExp]>([
    ["no URL", () => "secret", /^DATABASE_URL isn't a valid URL\. It reads postgres:\/\//],
    [
      "an unknown mode",
      () => `${server.url("own", me)}?sslmode=maybe`,
      /^DATABASE_URL has sslmode=maybe; PostgreSQL knows disable, /,
    ],
    [
      "an unknown authority",
      () => `${server.url("own", me)}?sslmode=verify-ca&sslrootcert=${folder}/other.pem`,
      /^The certificate of PostgreSQL at 127\.0\.0\.1:\d+ is not accepted: .* sslrootcert=\/path in DATABASE_URL/,
    ],
    [
      "another name than the certificate's",
      () => `${server.url("own", me)}?sslmode=verify-full&sslrootcert=${folder}/authority.pem`,
      /^The certificate .* does not match certificate's altnames/,
    ],
    [
      "an authority that is not there",
      () => `${server.url("own", me)}?sslmode=verify-full&sslrootcert=${folder}/none.pem`,
      /^DATABASE_URL names the file .*none\.pem, which can't be read \(ENOENT\)\.$/,
    ],
    [
      "no TLS for who has to have it",
      () => `${server.url("kept", guarded)}?sslmode=disable`,
      /takes guarded over TLS only\. Remove sslmode=disable from DATABASE_URL\.$/,
    ],
    [
      "a wrong password",
      () => server.url("own", { user: "me", password: "secret" }),
      /refuses the password of me\. Correct it in DATABASE_URL\.$/,
    ],
    [
      "neither user nor password, which makes the user that of the account",
      () => server.url("own", me).replace(/\/\/.*@/, "//"),
      new RegExp(`asks for a password of ${userInfo().username}\\. Add it to DATABASE_URL\\.$`),
    ],
    [
      "an unknown database",
      () => server.url("none", me),
      /has no database none\. Correct the name in DATABASE_URL, or create it\.$/,
    ],
    [
      "nothing that answers",
      async () => `postgres://me:secret@127.0.0.1:${await freePort()}/own`,
      /^Nothing answers at 127\.0\.0\.1:\d+\. Start PostgreSQL there, /,
    ],
    [
      "a database of others",
      () => server.url("postgres", me),
      /lets me create nothing in the database postgres\. .*: alter database "postgres" owner to "me"$/,
    ],
    [
      "a database without Unicode",
      () => server.url("old", me),
      /has the encoding LATIN1\. Create one with the encoding UTF8 /,
    ],
  ])("is refused with a message: %s", async (_, url, words) => {
    const opening = openOwnServer(await url());
    await expect(opening).rejects.toThrow(words);
    await expect(opening).rejects.not.toThrow(/secret|m%20e|guarded@/);
  });
});
