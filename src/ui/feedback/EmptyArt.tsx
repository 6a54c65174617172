// Illustrations of empty states, in the style of the product's mark. Loaded only where one is shown.
import type { ReactNode } from "react";

const drawings = {
  backups: (
    <>
      <path d="M42 30h36v26a4 4 0 0 1-4 4H46a4 4 0 0 1-4-4z" className="fill-raised" />
      <rect x="38" y="20" width="44" height="10" rx="3" className="fill-raised" />
      <path d="M55 40h10" />
      <path d="M60 4v9m-5-4 5 5 5-5" className="stroke-accent" />
    </>
  ),
  workers: (
    <>
      <rect x="24" y="46" width="14" height="14" rx="3" className="fill-raised" />
      <rect x="43" y="46" width="14" height="14" rx="3" className="fill-raised" />
      <g className="stroke-accent">
        <circle cx="81" cy="38" r="14" className="fill-accent-soft" />
        <circle cx="81" cy="38" r="4" />
        <path d="M81 18v16m0 8v16M61 38h16m8 0h16M66.9 23.9l11.3 11.3m5.6 5.6 11.3 11.3m0-28.2L83.8 35.2m-5.6 5.6L66.9 52.1" />
      </g>
    </>
  ),
  webhooks: (
    <>
      <path d="M42 8v52" />
      <path d="M42 11h30l-8 10 8 10H42z" className="fill-accent-soft stroke-accent" />
      <path d="M80 14c4 4 4 10 0 14m7-20c7 7 7 19 0 26" />
    </>
  ),
  notifications: (
    <>
      <path d="M44 50c5-4 5-11 5-18a11 11 0 0 1 22 0c0 7 0 14 5 18z" className="fill-raised" />
      <path d="M60 21v-7m-5 42a5 5 0 0 0 10 0" />
      <path d="M36 22c-3 5-3 12 0 17m48-17c3 5 3 12 0 17" className="stroke-accent" />
    </>
  ),
  servers: (
    <>
      <rect x="38" y="12" width="44" height="14" rx="3" className="fill-raised" />
      <rect
        x="38"
        y="29"
        width="44"
        height="14"
        rx="3"
        className="fill-accent-soft stroke-accent"
      />
      <rect x="38" y="46" width="44" height="14" rx="3" className="fill-raised" />
      <path d="M45 19h2m6 0h2m-10 34h2m6 0h2" />
      <path d="M45 36h2m6 0h2" className="stroke-accent" />
    </>
  ),
  activity: (
    <>
      <rect x="40" y="10" width="40" height="50" rx="4" className="fill-raised" />
      <path d="M56 22h16M56 35h16M56 48h10" />
      <path d="M48 22h.01M48 35h.01M48 48h.01" strokeWidth="4" className="stroke-accent" />
    </>
  ),
  tokens: (
    <>
      <circle cx="48" cy="36" r="13" className="fill-accent-soft stroke-accent" />
      <circle cx="48" cy="36" r="4" className="stroke-accent" />
      <path d="M61 36h28v9m-9-9v6" />
    </>
  ),
  search: (
    <>
      <circle cx="56" cy="30" r="17" className="fill-raised" />
      <path d="m68.5 42.5 13 13" />
      <path d="M46 31c3.3-3 6.700-3 10 0s6.700 3 10 0" className="stroke-accent" />
    </>
  ),
} as const satisfies Record<string, ReactNode>;

export type ArtName = keyof typeof drawings;

export function EmptyArt({ name }: { name: ArtName }) {
  return (
    <svg
      aria-hidden
      viewBox="0 0 120 72"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      className="h-18 w-30 text-edge"
    >
      {drawings[name]}
      <path d="M14 65h92" strokeWidth="3" className="stroke-line" />
    </svg>
  );
}
