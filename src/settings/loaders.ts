import { type LoaderFunctionArgs, redirect } from "react-router";
import { everyServerQuery } from "../app/inventory.ts";
import { load, loadIfThere, pageOf } from "../app/routing/loading.ts";
import { paths } from "../paths.ts";
import { inventoryQuery } from "./inventory/queries.ts";
import { currentTokenQuery, installationQuery, isList, tokensQuery } from "./queries.ts";

/**
 * Also loads the inventory, whose panel would otherwise move the others. Only tokens that may manage tokens may see it.
 */
async function loadTokens(request: Request, page: number): Promise<void> {
  if (isList((await loadIfThere(request, tokensQuery(page))) ?? undefined))
    await loadIfThere(request, inventoryQuery());
}

export async function settingsLoader({ request }: LoaderFunctionArgs) {
  const page = pageOf(request);
  // Errors are shown in place, because the rest of the page is about this browser.
  await Promise.all([
    loadTokens(request, page),
    loadIfThere(request, installationQuery()),
    loadIfThere(request, everyServerQuery()),
  ]);
  return { page };
}

export async function newTokenLoader({ request }: LoaderFunctionArgs) {
  const [tokens] = await Promise.all([
    load(request, tokensQuery(1)),
    loadIfThere(request, currentTokenQuery()),
    loadIfThere(request, everyServerQuery()),
  ]);
  // The settings explain why no token can be created.
  if (!isList(tokens)) throw redirect(paths.settings());
  return null;
}
