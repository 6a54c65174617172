// Helpers of route loaders: without a session they redirect to the connect page; data is loaded before the page shows.
import { redirect } from "react-router";
import { readPage } from "../../../contract/paging.ts";
import { ApiError, hasStatus, isPassing } from "../../api/api-error.ts";
import type { ListView } from "../../api/list-query.ts";
import { type DataQuery, queryClient } from "../../api/query.ts";
import { sessions } from "../../api/session.ts";
import { serversQuery } from "../inventory.ts";
import { paths, readId, readText } from "../../paths.ts";

const connect = (request: Request) => {
  const { pathname, search } = new URL(request.url);
  return redirect(paths.connect(pathname + search));
};

/**
 * Loads a query before its page shows. Cached data is used at once and refetched in the background. There are no
 * retries, because a page should fail soon and offer to try again.
 */
export async function load<Data>(request: Request, query: DataQuery<Data>): Promise<Data> {
  if (sessions.current() === null) throw connect(request);
  try {
    return await queryClient.ensureQueryData({ ...query, retry: false, revalidateIfStale: true });
  } catch (error) {
    if (hasStatus(error, 401)) throw connect(request);
    throw error;
  }
}

/**
 * Loads what a form changes. An open form does not follow its data, so cached data is used only where the service does
 * not respond.
 */
export async function loadFresh<Data>(request: Request, query: DataQuery<Data>): Promise<Data> {
  if (sessions.current() === null) throw connect(request);
  try {
    return await queryClient.fetchQuery({ ...query, staleTime: 0, retry: false });
  } catch (error) {
    if (isPassing(error)) return load(request, query);
    if (hasStatus(error, 401)) throw connect(request);
    throw error;
  }
}

/** Loads optional data of a page; null where that failed. */
export async function loadIfThere<Data>(
  request: Request,
  query: DataQuery<Data>,
): Promise<Data | null> {
  try {
    return await load(request, query);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/**
 * Loads the server or site of a page; null where that failed, as with a service that has neither operation.
 * @throws ApiError 404 where the service has servers, but not this one or none with this site
 */
export async function loadPlace<Place>(
  request: Request,
  query: DataQuery<Place | null>,
): Promise<Place | null> {
  try {
    const place = await load(request, query);
    if (place !== null) return place;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
  if ((await loadIfThere(request, serversQuery())) !== null) throw new ApiError(404, "Not found.");
  return null;
}

/** Returns the page of a list in the URL, counted from 1. */
export const pageOf = (request: Request): number =>
  readPage({ page: new URL(request.url).searchParams.get("page") ?? undefined }).page;

const viewNames = ["per_page", "status", "q", "sort"] as const;

/** Returns the parameters of a list in the URL. */
export function viewOf(request: Request): ListView & { page: number } {
  const { searchParams } = new URL(request.url);
  const given = viewNames.map((name) => [name, readText(searchParams.get(name))] as const);
  return {
    ...Object.fromEntries(given.filter(([, text]) => text !== "")),
    page: pageOf(request),
  };
}

/**
 * Returns the id in the URL.
 * @throws ApiError 404 where it is not an id
 */
export function idOf(params: { id?: string | undefined }): number {
  const id = readId(params.id);
  if (id === null) throw new ApiError(404, "Not found.");
  return id;
}
