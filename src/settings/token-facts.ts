// Human-readable facts about tokens.
import type { Ability, Token } from "../../contract/tokens.ts";

export const canChange = ({ abilities }: { abilities: readonly Ability[] }): boolean =>
  abilities.includes("*");

export const abilityText = (token: { abilities: readonly Ability[] }): string =>
  canChange(token) ? "Everything" : "Read";

type Named = { id: number; name: string };

/** @param servers servers with known names */
export const serversText = (ids: Token["server_ids"], servers: readonly Named[]): string =>
  ids === null
    ? "All servers"
    : ids.map((id) => servers.find((one) => one.id === id)?.name ?? `Server ${id}`).join(", ");

const soonMs = 7 * 24 * 3600 * 1000;

type Expiry = "never" | "later" | "soon" | "past";

export function expiryOf({ expires_at: at }: Pick<Token, "expires_at">, nowMs: number): Expiry {
  if (at === null) return "never";
  const leftMs = Date.parse(at) - nowMs;
  if (leftMs <= 0) return "past";
  return leftMs < soonMs ? "soon" : "later";
}

const dayMs = 24 * 3600 * 1000;

/** Choices for the lifetime of a new token; the resulting time is stored. */
const expiryOptions = [
  { days: null, label: "Never" },
  { days: 7, label: "In 7 days" },
  { days: 30, label: "In 30 days" },
  { days: 90, label: "In 90 days" },
  { days: 365, label: "In 1 year" },
] as const;

/** Returns the choices for a token whose creator expires at a given time. */
export const expiryOptionsUntil = (latest: string | null, nowMs: number) =>
  expiryOptions
    .filter(
      ({ days }) => days === null || latest === null || nowMs + days * dayMs <= Date.parse(latest),
    )
    .map(({ days, label }) => ({
      days,
      label: days === null && latest !== null ? "With the current token" : label,
    }));

export const momentAfter = (days: number | null, nowMs: number): Date | null =>
  days === null ? null : new Date(nowMs + days * dayMs);
