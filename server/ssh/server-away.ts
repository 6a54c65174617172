// Explains to operators why a server cannot be used.
import { stripVTControlCharacters } from "node:util";

/** `host key` = the key is not the pinned one, or none is pinned: nothing runs there until an operator decides. */
type AwayKind = "network" | "refused" | "host key" | "lost" | "silent" | "setup";

/** The server cannot be reached, or the connection was lost. The outcome of what ran there is unknown. */
export class ServerAway extends Error {
  override name = "ServerAway";
  readonly kind: AwayKind;
  constructor(kind: AwayKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const shownCharacters = 500;

/** Returns a server's output as one line that is safe to show in a terminal or on a page. */
export const toShownText = (text: string, maxCharacters = shownCharacters): string =>
  stripVTControlCharacters(text.toWellFormed())
    // Control and format characters could change how the text is displayed.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim()
    .slice(0, maxCharacters);

const lastLine = (text: string): string =>
  toShownText(text.trimEnd().split("\n").at(-1) ?? "").replace(/\.+$/, "");

/**
 * Explains a login that ran no command.
 * @param said what the login wrote
 */
export function explainLogin(said: string, { place, user }: { place: string; user: string }) {
  const last = lastLine(said);
  return new ServerAway(
    "setup",
    `${place} accepted the login of ${user}, and ran no command for it${last === "" ? "" : `: ${last}`}. Check the shell of that account and the files that it reads at its start.`,
  );
}

/** @param stderr of `ssh` */
export function explainSsh(
  stderr: string,
  { place, user, keyName }: { place: string; user: string; keyName: string },
): ServerAway {
  const says = (words: RegExp) => words.test(stderr);
  const last = lastLine(stderr);
  if (says(/host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/i))
    return new ServerAway("host key", `${place} offered another host key than the pinned one.`);
  if (says(/Connection refused/))
    return new ServerAway(
      "network",
      `${place} refused the connection. Check that sshd runs there and listens on this port.`,
    );
  if (says(/Connection timed out|Operation timed out|timed out during banner exchange/))
    return new ServerAway(
      "network",
      `${place} did not respond. Check that it is running and that no firewall stands in the way.`,
    );
  if (says(/Could not resolve hostname/))
    return new ServerAway(
      "network",
      `The name of ${place} could not be resolved. Check “host” in its inventory entry.`,
    );
  if (says(/Connection (?:to \S+ )?(?:closed|reset) by|Broken pipe/))
    return new ServerAway("lost", `The connection to ${place} was lost while it was being made.`);
  if (says(/No route to host|Network is unreachable/))
    return new ServerAway("network", `There is no route to ${place}.`);
  if (says(/not accessible: No such file|Load key .*(?:No such file|Permission denied)/))
    return new ServerAway("refused", `Couldn't read ${keyName}, which the inventory names as key.`);
  if (says(/Permission denied|Too many authentication failures/))
    return new ServerAway(
      "refused",
      `${place} did not accept ${keyName} for user ${user}. Add its public key to ~${user}/.ssh/authorized_keys. A key with a passphrase has to be in an agent (“key: agent”).`,
    );
  return new ServerAway(
    "network",
    `Couldn't connect to ${place}${last === "" ? "" : `: ${last}`}.`,
  );
}

/** @param stderr of an `ssh -O` that got no reply from the master */
export function explainControl(stderr: string, place: string): ServerAway {
  // A master that refuses gives a reason in a line before the last one here.
  return /Control socket connect|master hello exchange failed|write packet|read from master failed|^\S+ master forward request failed\s*$/.test(
    stderr,
  )
    ? new ServerAway("lost", `The connection to ${place} was lost.`)
    : new ServerAway(
        "silent",
        `The connection to ${place} did not do what it was asked to: ${toShownText(stderr)}`,
      );
}
