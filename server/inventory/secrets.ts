// Reads secrets from where the inventory refers to. They are read on demand and never cached.
import { readFile } from "node:fs/promises";
import { pathOfReference } from "./paths.ts";
import { toError } from "../to-error.ts";

/** A secret cannot be read. The message is for the operator, and contains no secret. */
export class SecretMissing extends Error {
  override name = "SecretMissing";
}

export type SecretReader = {
  /**
   * @param reference `env:NAME` or `file:PATH`
   * @param purpose for messages, such as "the url of database 1 (shop)"
   * @throws SecretMissing
   */
  read(reference: string, purpose: string): Promise<string>;
  /** Returns the path of a secret's file, for programs that read and rewrite it themselves; null = it is not in a file. */
  fileOf(reference: string): string | null;
};

/**
 * @param environment where `env:NAME` is looked up
 * @param folder of the inventory, the base of relative paths
 */
export const createSecretReader = (
  environment: Record<string, string | undefined>,
  folder: string,
): SecretReader => ({
  async read(reference, purpose) {
    const [, kind, place = ""] = /^(env|file):(.+)$/.exec(reference) ?? [];
    if (kind === "env") {
      const value = environment[place];
      if (value) return value;
      throw new SecretMissing(
        `The environment variable ${place} is not set; the inventory names it as ${purpose}. Set it for the service and start it again.`,
      );
    }
    const path = pathOfReference(folder, reference);
    try {
      // Editors end a file with a newline; no secret does.
      return (await readFile(path, "utf8")).replace(/\r?\n$/, "");
    } catch (error) {
      const { code } = toError(error);
      throw new SecretMissing(
        `The file ${path} cannot be read (${code}); the inventory names it as ${purpose}.`,
      );
    }
  },
  fileOf: (reference) =>
    reference.startsWith("file:") ? pathOfReference(folder, reference) : null,
});
