// What a list is asked for to get one of its pages, counted from 1.
import { maxPerPage } from "../../contract/paging.ts";

/** The first page is what comes unasked, so its address stays as short as the one that people bookmark. */
export const pageQuery = (page: number): { page?: string } =>
  page > 1 ? { page: String(page) } : {};

/** As many items as a page can have, for what is shown whole. */
export const largePageQuery = (page = 1): { per_page: string; page?: string } => ({
  per_page: String(maxPerPage),
  ...pageQuery(page),
});
