import { describe, expect, test } from "vitest";
import { itemsOn, readPage, toPage } from "./paging.ts";

describe("the query parameters", () => {
  test.each([
    [{}, { page: 1, perPage: 20 }],
    [{ page: "3" }, { page: 3, perPage: 20 }],
    [{ page: "0" }, { page: 1, perPage: 20 }],
    [{ page: "-1" }, { page: 1, perPage: 20 }],
    [{ page: "abc" }, { page: 1, perPage: 20 }],
    [{ page: "1.5" }, { page: 1, perPage: 20 }],
    [{ page: "99999999999999999999" }, { page: 1, perPage: 20 }],
    [{ per_page: "1" }, { page: 1, perPage: 1 }],
    [{ per_page: "100" }, { page: 1, perPage: 100 }],
    [{ per_page: "101" }, { page: 1, perPage: 100 }],
    [{ per_page: "0" }, { page: 1, perPage: 20 }],
  ])("parses %o as %o", (query, expected) => {
    expect(readPage(query)).toEqual(expected);
  });
});

describe("the response", () => {
  const path = "http://host/api/list";

  test("an empty list has one page and no range", () => {
    const { links, meta } = toPage([], 0, { page: 1, perPage: 20 }, path);
    expect(meta).toEqual({
      current_page: 1,
      from: null,
      to: null,
      last_page: 1,
      path,
      per_page: 20,
      total: 0,
    });
    expect(links).toEqual({
      first: `${path}?page=1`,
      last: `${path}?page=1`,
      prev: null,
      next: null,
    });
  });

  test("a page in the middle links to both neighbours and keeps per_page", () => {
    const { links, meta } = toPage([4, 5, 6], 8, { page: 2, perPage: 3 }, path);
    expect(meta).toMatchObject({ from: 4, to: 6, last_page: 3 });
    expect(links).toEqual({
      first: `${path}?page=1&per_page=3`,
      last: `${path}?page=3&per_page=3`,
      prev: `${path}?page=1&per_page=3`,
      next: `${path}?page=3&per_page=3`,
    });
  });

  test("links keep the filter of a list, and the metadata has its counts and orders", () => {
    const filter = { "filter[status]": "failed,stopped", search: "a&b", sort: "" };
    const filtered = { counts: { all: 1, failed: 1 }, sorts: ["id"] };
    const { links, meta } = toPage([4], 1, { page: 1, perPage: 20 }, path, filter, filtered);
    expect(links.first).toBe(`${path}?page=1&filter%5Bstatus%5D=failed%2Cstopped&search=a%26b`);
    expect(meta).toMatchObject({ path, ...filtered });
  });

  test("a page past the end is empty and links to the one before it", () => {
    const { links, meta } = toPage([], 8, { page: 9, perPage: 20 }, path);
    expect(meta).toMatchObject({ current_page: 9, from: null, to: null, last_page: 1 });
    expect(links).toMatchObject({ prev: `${path}?page=8`, next: null });
  });
});

test.each([
  [1, ["a", "b"]],
  [3, ["e"]],
  [4, []],
])("page %s of a list in memory contains only its own items", (page, items) => {
  expect(itemsOn(["a", "b", "c", "d", "e"], { page, perPage: 2 })).toEqual(items);
});
