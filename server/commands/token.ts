// `token`: lets in an operator who has lost all tokens. Whoever can read the database's password may sign in.
import { signInCodeMinutes } from "../../contract/tokens.ts";
import { systemClock } from "../clock.ts";
import { ConfigError, readConfig, readSecretFiles } from "../config.ts";
import { baseUrlOf } from "../http/allowed-hosts.ts";
import { readDatabaseTime } from "../instances/database-clock.ts";
import { openUnchanged } from "../store/database.ts";
import { createTokens } from "../tokens/tokens.ts";
import type { Command } from "./command.ts";
import { openCommandDatabase } from "./open-database.ts";

export const tokenCommand: Command = {
  name: "token",
  about: "Prints a link to sign in with, also when all tokens are lost.",
  details: `The link works once, for ${signInCodeMinutes} minutes, whether the service is running or not. It signs in with all permissions.
Set QUARTERDECK_DATA or DATABASE_URL as for the service, and PORT, HOST or QUARTERDECK_PUBLIC_URL if the service has them.`,
  failure: "there is no such database, or it does not respond",
  async run(context) {
    const { environment, isRoot, say, onEnd } = context;
    const config = readConfig(readSecretFiles(environment), isRoot);
    if (config.upstream !== null)
      throw new ConfigError(
        `QUARTERDECK_UPSTREAM is set, so tokens belong to ${config.upstream}. Run this command there.`,
      );
    const { db, close } = await openUnchanged(await openCommandDatabase(context, config));
    onEnd(close);
    // The clock that the service uses to check whether the code has expired.
    const nowMs = config.databaseUrl === null ? systemClock.now() : await readDatabaseTime(db);
    const clock = { ...systemClock, now: () => nowMs };
    const code = await createTokens({ db, clock }).replaceCode();
    const address = config.publicUrl ?? baseUrlOf(config.host, config.port);
    say(
      `Sign in with this link. The link works once, for ${signInCodeMinutes} minutes:\n\n  ${address}/#code=${code}\n\nOnce signed in, revoke lost tokens in the settings.`,
    );
  },
};
