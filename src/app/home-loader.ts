import type { LoaderFunctionArgs } from "react-router";
import { readPage } from "../../contract/paging.ts";
import { serversQuery } from "./inventory.ts";
import { load } from "./loading.ts";

export async function homeLoader({ request }: LoaderFunctionArgs) {
  const asked = new URL(request.url).searchParams.get("page") ?? undefined;
  const { page } = readPage({ page: asked });
  await load(request, serversQuery(page));
  return { page };
}
