import type { LoaderFunctionArgs } from "react-router";
import { ApiError } from "../api/api-error.ts";
import { loadHelp } from "./pages.ts";

export async function helpLoader({ params: { page = "" } }: LoaderFunctionArgs) {
  const content = await loadHelp(page);
  if (content === null) throw new ApiError(404, "Not found.");
  return { page, ...content };
}
