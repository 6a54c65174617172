// Lists for operators what a restore cannot know about the new machine, and what to do.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../environment/handover.ts";
import { parseInventory } from "../inventory/file.ts";
import { expandHome, pathOfReference } from "../inventory/paths.ts";
import type { Inventory } from "../inventory/schema.ts";
import type { Loaded } from "./load-archive.ts";
import { secretReferences } from "./secret-references.ts";

type Options = { loaded: Loaded; inventoryFile: string; environment: Environment };

/** @returns one sentence for each */
export function openQuestions({ loaded, inventoryFile, environment }: Options): string[] {
  const { inventory: text, pausedWebhooks } = loaded;
  const said: string[] = [];
  if (text === null) said.push("There was no inventory in the backup: write it again.");
  else
    try {
      const inventory = parseInventory(text.toString(), inventoryFile);
      said.push(...ofInventory(inventory, inventoryFile, environment));
    } catch {
      said.push(
        `The inventory has mistakes. Run doctor: it names each with its line (${inventoryFile}).`,
      );
    }
  if (pausedWebhooks.length > 0)
    said.push(
      `Signing secrets of webhooks were not in the backup. ${listOf("Webhook", pausedWebhooks.map(String))} ${pausedWebhooks.length === 1 ? "is" : "are"} paused: rotate the secret, give it to the receiver, then enable the webhook and redeliver what it missed.`,
    );
  said.push(
    "Settings of the service are not in a backup: set DATABASE_URL, SMTP_URL and the QUARTERDECK_… variables as they were.",
  );
  return said;
}

function* ofInventory(
  inventory: Inventory,
  inventoryFile: string,
  environment: Environment,
): Generator<string> {
  const { files, variables } = secretReferences(inventory);
  const unset = variables.filter((name) => !environment[name]);
  if (unset.length > 0)
    yield `Secrets that the inventory takes from the environment are not in a backup. Set for the service: ${unset.join(", ")}.`;
  const folder = dirname(inventoryFile);
  const paths = files.map((reference) => pathOfReference(folder, reference));
  const missing = paths.filter((path) => !existsSync(path));
  if (missing.length > 0)
    yield `${listOf("File", missing)} with secrets ${missing.length === 1 ? "is" : "are"} not here. Write ${missing.length === 1 ? "it" : "them"} again, readable for this account only.`;
  const isLocal = new Set(
    inventory.servers.filter(({ connection }) => connection === "local").map(({ id }) => id),
  );
  const gone = inventory.storage_providers.flatMap((provider) =>
    provider.type === "local" &&
    (provider.server === undefined || isLocal.has(provider.server)) &&
    !existsSync(expandHome(provider.path))
      ? [`${provider.path} (${provider.name})`]
      : [],
  );
  if (gone.length > 0)
    yield `${listOf("Storage folder", gone)} ${gone.length === 1 ? "is" : "are"} not on this machine. Mount or copy ${gone.length === 1 ? "it" : "them"}, or backups there can be neither made nor restored.`;
  const sites = inventory.sites.flatMap(({ server, root, name }) =>
    isLocal.has(server) && !existsSync(expandHome(root)) ? [`${root} (${name})`] : [],
  );
  if (sites.length > 0)
    yield `${listOf("Site folder", sites)} ${sites.length === 1 ? "is" : "are"} not on this machine. Workers of ${sites.length === 1 ? "that site" : "those sites"} fail until ${sites.length === 1 ? "it is" : "they are"}.`;
}

const maxListed = 10;

function listOf(what: string, all: readonly string[]): string {
  const more = all.length > maxListed ? ` and ${all.length - maxListed} more` : "";
  return `${what}${all.length === 1 ? "" : "s"} ${all.slice(0, maxListed).join(", ")}${more}`;
}
