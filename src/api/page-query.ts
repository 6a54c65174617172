// The query parameters of a page of a list, counted from 1.
import { maxPerPage } from "../../contract/paging.ts";

/** The first page is the default, so it adds no parameter. */
export const pageQuery = (page: number): { page?: string } =>
  page > 1 ? { page: String(page) } : {};

/** The largest possible page, for lists that are shown whole. */
export const largePageQuery = (page = 1): { per_page: string; page?: string } => ({
  per_page: String(maxPerPage),
  ...pageQuery(page),
});
