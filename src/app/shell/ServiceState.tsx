// Shows that the service, or the server of the page, is unreachable: over the page, so that nothing moves under the
// pointer. The page keeps the last known data.
import { notifyManager } from "@tanstack/react-query";
import {
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { useLocation } from "react-router";
import { queryClient } from "../../api/query.ts";
import { useStore } from "../../store.ts";
import { Icon } from "../../ui/Icon.tsx";
import { linkClass } from "../../ui/text/link-class.ts";
import { Time } from "../../ui/time/Time.tsx";
import { paths } from "../../paths.ts";
import { Link } from "../Link.tsx";
import { isSaved } from "../form/LeaveGuard.tsx";
import { keepCache } from "../routing/keep-cache.ts";
import { readOldest } from "./oldest-data.ts";
import { outage } from "./outage.ts";
import { useUnreachableServer } from "../place/unreachable-server.ts";
import { isStale, watchService } from "./watch-service.ts";

const timeText = (ms: number): string => {
  const moment = new Date(ms);
  return [moment.getHours(), moment.getMinutes()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
};

/** Reloads for a new build at the next navigation, except where that shows what was just saved. */
function useNewBuild(): void {
  const { pathname, state } = useLocation();
  const before = useRef(pathname);
  useEffect(() => {
    if (before.current === pathname) return;
    before.current = pathname;
    if (isStale.get() && !isSaved(state)) location.reload();
  }, [pathname, state]);
}

const cache = queryClient.getQueryCache();

const subscribe = (listener: () => void) => cache.subscribe(notifyManager.batchCalls(listener));

/** Old data that is replaced sooner is not marked: the whole page would blink, and a screen reader would speak. */
const waitMs = 300;

/** Returns when the oldest data on screen was read; null = none of it is old, or only for a moment. */
function useOldest(): number | null {
  const readMs = useSyncExternalStore(subscribe, () => readOldest(cache, Date.now()));
  const isOld = readMs !== null;
  // After a load, the page shows its cached data as old from the start.
  const [isLate, setIsLate] = useState(isOld);
  useEffect(() => {
    const timer = setTimeout(setIsLate, isOld ? waitMs : 0, isOld);
    return () => clearTimeout(timer);
  }, [isOld]);
  return isLate ? readMs : null;
}

function Away({ children }: { children: ReactNode }) {
  return (
    <span className="pointer-events-auto flex min-h-10 items-center gap-2.5 border-t border-line bg-warn-soft px-8 py-2 text-ink max-lg:px-6 max-sm:px-4">
      <span className="text-warn">
        <Icon name="warning" />
      </span>
      <span>{children}</span>
    </span>
  );
}

/** Rendered once, in the shell. */
export function ServiceState() {
  const sinceMs = useStore(outage);
  const isAway = sinceMs !== null;
  const readMs = useOldest();
  const isOld = isAway || readMs !== null;
  const server = useUnreachableServer();
  useNewBuild();
  useEffect(() => watchService(queryClient), []);
  useEffect(() => keepCache(queryClient), []);
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute("data-last-known", isOld);
  }, [isOld]);
  return (
    <output
      aria-label="Service status"
      className="pointer-events-none fixed inset-x-0 bottom-0 z-10 lg:start-60"
    >
      {isAway ? (
        <Away>
          <strong className="font-medium">Unreachable since {timeText(sinceMs)}</strong>, showing
          the last known state. Quarterdeck goes on by itself.
        </Away>
      ) : (
        server !== null && (
          <Away>
            <strong className="font-medium">
              {server.name} unreachable
              {/* Hidden, because a screen reader would speak again each time that the duration changes. */}
              <span aria-hidden>
                {" "}
                for <Time value={server.since} format="duration" />
              </span>
            </strong>
            , showing the last known state.{" "}
            <Link to={paths.server(server.id)} className={linkClass}>
              View server
            </Link>
          </Away>
        )
      )}
      {!isAway && server === null && readMs !== null && (
        <span className="flex min-h-10 items-center gap-2.5 border-t border-line bg-raised px-8 py-2 text-muted max-lg:px-6 max-sm:px-4">
          Showing the state of {timeText(readMs)}. Updating…
        </span>
      )}
    </output>
  );
}
