// A small client of the service's API, for seeds.
import { setTimeout as wait } from "node:timers/promises";

type Listed = { id: number };

export type SeedClient = {
  /** @throws for any response but success */
  send(method: string, path: string, body?: object): Promise<unknown>;
  /** Returns the first hundred items of a list. */
  list<Item extends Listed>(path: string): Promise<Item[]>;
};

/** @param url base URL of the service, without a trailing slash */
export function createSeedClient(url: string, token: string): SeedClient {
  async function send(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(url + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: "application/json",
        "Content-Type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 429) {
      await response.arrayBuffer();
      await wait(Number(response.headers.get("Retry-After") ?? 1) * 1000);
      return send(method, path, body);
    }
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
    return text === "" ? null : JSON.parse(text);
  }

  return {
    send,
    async list<Item extends Listed>(path: string) {
      // Every list of the API has this envelope; the caller knows the type of its items.
      const { data } = (await send("GET", `${path}?per_page=100`)) as { data: Item[] };
      return data;
    },
  };
}
