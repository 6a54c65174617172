// Secrets, found where the inventory says that they are. They are read when they are needed and kept nowhere.
import { readFile } from "node:fs/promises";
import { pathOfReference } from "./paths.ts";
import { toError } from "../to-error.ts";

/** What the inventory names is not there. The message is for the operator and holds no secret. */
export class SecretMissing extends Error {
  override name = "SecretMissing";
}

export type SecretReader = {
  /**
   * @param reference `env:NAME` or `file:PATH`
   * @param purpose what it is for, as in "the url of database 1 (shop)"
   * @throws SecretMissing
   */
  read(reference: string, purpose: string): Promise<string>;
  /** The file that a program can read itself, and write anew; null where there is none. */
  fileOf(reference: string): string | null;
};

/**
 * @param environment where `env:NAME` is looked up
 * @param folder of the inventory, where relative paths start
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
      // An editor ends a file with a line break; no secret does.
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
