// The password of the database: made by the service, set while no server runs, and kept where the database's account cannot read it.
import { createHash, createHmac, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { Binaries } from "./binaries.ts";
import { runCommand } from "./command.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { readOwnFile, writeOwnFile } from "./own-file.ts";
import type { Place } from "./place.ts";
import { databaseUser, serverArguments } from "./settings.ts";
import { explainText, type RetryHint } from "./diagnosis.ts";

export type Password = {
  text: string;
  /** Whether the database has it, as far as is known: a file with it exists only once it was set. */
  isKept(): boolean;
  /**
   * Gives it to the database, then keeps it. No server may run on the data. A crash in between leaves a password that nobody knows,
   * and the next start sets another one.
   * @throws {EmbeddedPostgresError}
   */
  set(retryHint: RetryHint): Promise<void>;
};

const lineStart = `*:*:*:${databaseUser}:`;

/** The one that is kept; null where that was lost. */
export async function readPassword(place: Place): Promise<string | null> {
  const line = await readOwnFile(place.passwordFile, place.owner);
  return (line?.startsWith(lineStart) && line.slice(lineStart.length).trimEnd()) || null;
}

/** The one that is kept; where that was lost, a new one to be set. */
export async function findPassword(place: Place, binaries: Binaries): Promise<Password> {
  const known = await readPassword(place);
  const text = known ?? randomBytes(32).toString("base64url");
  let isKept = known !== null;
  return {
    text,
    isKept: () => isKept,
    async set(retryHint) {
      await alterRole(place, binaries, await scramVerifier(text), retryHint);
      await writeOwnFile(place.passwordFile, `${lineStart}${text}\n`, {
        ...place.owner,
        mode: 0o600,
      });
      isKept = true;
    },
  };
}

/** In single-user mode, which listens nowhere and asks for no password, so that a lost one can always be replaced. */
async function alterRole(
  place: Place,
  { postgres }: Binaries,
  verifier: string,
  retryHint: RetryHint,
): Promise<void> {
  // Without the second setting a statement that fails would end well.
  const args = ["--single", ...serverArguments(place), "-c", "exit_on_error=on", "postgres"];
  const statement = `alter role ${databaseUser} login valid until 'infinity' password '${verifier}'\n`;
  const { exitCode, output } = await runCommand(postgres, args, place.account, statement);
  if (exitCode === 0) return;
  const reason = await explainText(place, output, retryHint);
  throw new EmbeddedPostgresError(
    reason ?? `Couldn't set the password of the database in ${place.data}: ${output.trim()}`,
  );
}

const derive = promisify(pbkdf2);
/** Many rounds slow down who guesses; nobody guesses 32 random bytes, and each new connection takes as many. */
const rounds = 4096;

/** What the server keeps of a password, https://www.rfc-editor.org/rfc/rfc5803: its own files never hold the password. */
async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(16);
  const salted = await derive(password, salt, rounds, 32, "sha256");
  const sign = (words: string) => createHmac("sha256", salted).update(words).digest();
  const storedKey = createHash("sha256").update(sign("Client Key")).digest();
  const serverKey = sign("Server Key");
  const parts = [salt, storedKey, serverKey].map((bytes) => bytes.toString("base64"));
  return `SCRAM-SHA-256$${rounds}:${parts[0]}$${parts[1]}:${parts[2]}`;
}
