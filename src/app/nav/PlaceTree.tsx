// Servers and their sites in the sidebar: one tab stop, arrow keys within.
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { OverviewServer } from "../../../contract/overview-parts.ts";
import { paths } from "../../paths.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Input } from "../../ui/form/Input.tsx";
import { StatusDot } from "../../ui/feedback/StatusDot.tsx";
import { healthLook } from "../place/health.ts";
import { Link } from "../Link.tsx";
import { useCurrentPlace } from "../place/current-place.ts";
import { branchesOf, filterFrom, keyOf, moveBy, placesOf, splitName, type Place } from "./tree.ts";

const lineClass =
  "flex min-h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent";

/** A name that may be truncated in the middle; the tooltip has all of it. */
function Name({ name }: { name: string }) {
  const [start, end] = splitName(name);
  return (
    // Keeps the halves of a name in order, also from right to left.
    <span dir="auto" className="flex min-w-0" title={name}>
      <span className="truncate whitespace-pre">{start}</span>
      <span className="shrink-0 whitespace-pre">{end}</span>
    </span>
  );
}

type LineProps = {
  place: Place;
  name: string;
  health: OverviewServer["health"];
  isCurrent: boolean;
  isTabStop: boolean;
  isOpen?: boolean | undefined;
  isSample?: boolean | undefined;
};

function Line({ place, name, health, isCurrent, isTabStop, isOpen, isSample = false }: LineProps) {
  const { tone, text } = healthLook(health);
  return (
    <Link
      to={place.kind === "server" ? paths.backups(place.id) : paths.workers(place.id)}
      data-place={keyOf(place)}
      tabIndex={isTabStop ? 0 : -1}
      // Otherwise a screen reader would read the two halves as two words.
      aria-label={name}
      aria-description={isSample ? `Sample. ${text}` : text}
      aria-expanded={isOpen}
      // "true", not "page": the place is current on all of its pages.
      aria-current={isCurrent ? "true" : undefined}
      className={`${lineClass} ${place.kind === "server" ? "font-medium" : ""}`}
    >
      <StatusDot tone={tone} />
      <Name name={name} />
    </Link>
  );
}

export function PlaceTree({ servers }: { servers: readonly OverviewServer[] }) {
  const current = useCurrentPlace();
  const [filter, setFilter] = useState("");
  const [opened, setOpened] = useState<ReadonlyMap<number, boolean>>(new Map());
  const [focused, setFocused] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const branches = branchesOf(servers, { filter, opened, current });
  const keys = placesOf(branches).map(keyOf);
  // One line is focusable: the last focused one, the current page's, or the first.
  const stop = [focused, current === null ? null : keyOf(current)].find(
    (key) => key !== null && keys.includes(key),
  );
  const tabStop = stop ?? keys[0];
  const open = (id: number, isOpen: boolean) => setOpened(new Map(opened).set(id, isOpen));

  const onKeyDown = (event: KeyboardEvent<HTMLUListElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!(event.target instanceof HTMLElement)) return;
    const [kind, id] = (event.target.dataset["place"] ?? "").split(" ");
    if (kind !== "server" && kind !== "site") return;
    const isRightToLeft = getComputedStyle(event.currentTarget).direction === "rtl";
    const move = moveBy(event.key, { kind, id: Number(id) }, branches, isRightToLeft);
    if (move === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (move.type === "focus")
      list.current?.querySelector<HTMLElement>(`[data-place="${keyOf(move.place)}"]`)?.focus();
    else open(move.serverId, move.type === "open");
  };

  const currentKey = current === null ? null : keyOf(current);
  useEffect(() => {
    if (currentKey !== null)
      list.current
        ?.querySelector(`[data-place="${currentKey}"]`)
        ?.scrollIntoView({ block: "nearest" });
  }, [currentKey, list]);

  const sites = servers.reduce((sum, server) => sum + server.sites.length, 0);
  return (
    <>
      {sites >= filterFrom && (
        <div className="sticky top-0 z-1 bg-sunken p-0.5 pb-1.5">
          <Input
            type="search"
            aria-label="Filter navigation"
            placeholder="Filter"
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
            onKeyDown={(event) => {
              if (event.key !== "ArrowDown") return;
              event.preventDefault();
              list.current?.querySelector<HTMLElement>("[data-place]")?.focus();
            }}
          />
        </div>
      )}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys of the links in it */}
      <ul
        ref={list}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => setFocused(target.dataset["place"] ?? focused)}
        className="grid grid-cols-[minmax(0,1fr)]"
      >
        {branches.map(({ server, sites, isOpen }) => {
          const place = { kind: "server", id: server.id } as const;
          const key = keyOf(place);
          const hasSites = server.sites.length > 0;
          return (
            <li key={key}>
              <div className="flex items-center">
                {hasSites ? (
                  <button
                    type="button"
                    tabIndex={-1}
                    aria-label={`${isOpen ? "Hide" : "Show"} sites of ${server.name}`}
                    onClick={() => open(server.id, !isOpen)}
                    className={`flex size-6 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink ${isOpen ? "rotate-90" : ""}`}
                  >
                    <Icon name="right" />
                  </button>
                ) : (
                  <span className="size-6 shrink-0" />
                )}
                <Line
                  place={place}
                  name={server.name}
                  health={server.health}
                  isCurrent={current !== null && keyOf(current) === key}
                  isTabStop={tabStop === key}
                  isOpen={hasSites ? isOpen : undefined}
                />
              </div>
              {isOpen && hasSites && (
                <ul className="ms-3 grid grid-cols-[minmax(0,1fr)] border-s border-line ps-2">
                  {sites.map((site) => {
                    const sitePlace = { kind: "site", id: site.id } as const;
                    return (
                      <li key={site.id} className="flex min-w-0">
                        <Line
                          place={sitePlace}
                          name={site.name}
                          health={site.health}
                          isCurrent={current?.kind === "site" && current.id === site.id}
                          isTabStop={tabStop === keyOf(sitePlace)}
                          isSample={site.is_sample}
                        />
                        {site.is_sample === true && (
                          <span aria-hidden className="self-center px-2 text-xs text-muted">
                            Sample
                          </span>
                        )}
                      </li>
                    );
                  })}
                </ul>
              )}
            </li>
          );
        })}
      </ul>
      {branches.length === 0 && filter.trim() !== "" && (
        <p className="px-2 py-1 text-sm wrap-anywhere text-muted">
          No results for “{filter.trim()}”
        </p>
      )}
    </>
  );
}
