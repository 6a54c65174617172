// Formats the responses of the second service: timestamps, errors and pages.

/** An authenticated request. */
type Call = {
  id: number;
  query: URLSearchParams;
  /** The body, or an empty object where there was none. */
  body: Record<string, unknown>;
  /** Absolute URL of the request without its query. */
  url: string;
};

export type Reply = { status: number; body?: unknown; headers?: Record<string, string> };

/** A path is written like "/api/worker/{id}/stop". */
export type Routes = Record<`${"GET" | "POST" | "PUT" | "DELETE"} /api/${string}`, Answer>;
type Answer = (call: Call) => Reply;

/** An error response as in RFC 9457. `more` are its extension members. */
export const problem = (status: number, detail: string, more: object = {}): Reply => ({
  status,
  body: { type: "about:blank", title: "Request refused", status, detail, ...more },
  headers: { "content-type": "application/problem+json" },
});

export const notThere = () => problem(404, "No such thing.");
export const nothing: Reply = { status: 204 };

const pad = (count: number, digits = 2) => String(count).padStart(digits, "0");

/** Formats a timestamp with an offset of an hour and a half, which readers have to convert to UTC. */
export function withOffset(ms: number): string {
  const local = new Date(ms + 90 * 60_000).toISOString();
  return `${local.slice(0, 19)}.${pad(new Date(ms).getMilliseconds(), 3)}417+01:30`;
}

export const withMicroseconds = (ms: number): string =>
  new Date(ms).toISOString().replace("Z", "417Z");

/** Does not fit into 32 bits, but is still a safe integer in JavaScript. */
const firstId = 4_503_599_627_370_000;
let lastId = firstId;
export const nextId = (): number => (lastId += 7);

const perPage = 20;

export function page(items: readonly unknown[], { query, url }: Call): Reply {
  const asked = Number(query.get("page") ?? "1");
  const lastPage = Math.max(1, Math.ceil(items.length / perPage));
  const link = (number: number) => `${url}?page=${number}`;
  const first = (asked - 1) * perPage;
  return {
    status: 200,
    body: {
      data: items.slice(first, first + perPage),
      links: {
        first: link(1),
        last: link(lastPage),
        prev: asked > 1 ? link(asked - 1) : null,
        next: asked < lastPage ? link(asked + 1) : null,
        self: link(asked),
      },
      meta: {
        current_page: asked,
        from: items.length === 0 ? 0 : first + 1,
        to: Math.min(items.length, first + perPage),
        last_page: lastPage,
        path: url,
        per_page: perPage,
        total: items.length,
        took_ms: 12,
      },
    },
  };
}

/** Returns a response with a single object in `data`; this service wraps some objects. */
export const wrapped = (status: number, data: unknown): Reply => ({
  status,
  body: { data, meta: { version: 4 } },
});

/** A state that changes by itself. */
export type Course = (...words: string[]) => () => string;

/**
 * Their states advance when a test calls `move`: with a clock, a slow machine would miss some of them, and a fast one would
 * wait.
 */
export function makeCourses(): { course: Course; move: () => void } {
  let moved = 0;
  return {
    course(...words) {
      const from = moved;
      return () => words[Math.min(moved - from, words.length - 1)] ?? "";
    },
    move: () => void (moved += 1),
  };
}
