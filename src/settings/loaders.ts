import { type LoaderFunctionArgs, redirect } from "react-router";
import { everyServerQuery } from "../app/inventory.ts";
import { load, loadIfThere, pageOf } from "../app/loading.ts";
import { paths } from "../paths.ts";
import { currentTokenQuery, installationQuery, isList, tokensQuery } from "./queries.ts";

export async function settingsLoader({ request }: LoaderFunctionArgs) {
  const page = pageOf(request);
  // What cannot be read is said in its place: the rest is of this browser, and always there.
  await Promise.all([
    loadIfThere(request, tokensQuery(page)),
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
  // The settings say why there can be none.
  if (!isList(tokens)) throw redirect(paths.settings());
  return null;
}
