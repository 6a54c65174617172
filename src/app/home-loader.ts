import type { LoaderFunctionArgs } from "react-router";
import { readPage } from "../../contract/paging.ts";
import { overviewQuery, serversQuery } from "./inventory.ts";
import { load, loadIfThere } from "./loading.ts";

export async function homeLoader({ request }: LoaderFunctionArgs) {
  const asked = new URL(request.url).searchParams.get("page") ?? undefined;
  const { page } = readPage({ page: asked });
  await Promise.all([
    load(request, serversQuery(page)),
    // What is unknown is said in its place, and keeps nothing else from showing.
    loadIfThere(request, overviewQuery()),
  ]);
  return { page };
}
