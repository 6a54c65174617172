// Shows the end of a worker's log as it grows: follows, pauses, searches, copies.
import { queryOptions, useQuery } from "@tanstack/react-query";
import {
  type KeyboardEvent,
  memo,
  type Ref,
  type UIEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { countOf } from "../../contract/count-text.ts";
import { hasStatus } from "../api/api-error.ts";
import { callExtra } from "../api/query.ts";
import { ErrorText } from "../app/ErrorText.tsx";
import { Button } from "../ui/button/Button.tsx";
import { CopyButton } from "../ui/button/CopyButton.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Skeleton } from "../ui/feedback/Skeleton.tsx";
import { highlight } from "./highlight.ts";
import { appendLog, type LogBuffer, type LogLine } from "./log-buffer.ts";
import { findMatches } from "./log-search.ts";
import { Icon } from "../ui/Icon.tsx";

/** `following` shows each new line; `scrolled` keeps the position; `paused` stops polling. */
type Mode = "following" | "scrolled" | "paused";

const liveMs = 1_000;
const quietMs = 5_000;
const behindMs = 50;
/** Tolerance for rounded scroll positions. */
const bottomPx = 16;

const noLines: readonly LogLine[] = [];

const countText = (count: number, current: number) =>
  `${current === -1 ? "" : `${current + 1} of `}${countOf(count, "match", "matches")}`;

const firstLines = "1000";

/** A worker's log. Each request continues where the last one ended; null for a service without logs. */
const workerLogQuery = (id: number) =>
  queryOptions({
    queryKey: ["showWorkerLog", { id }],
    queryFn: async ({ client, queryKey }): Promise<LogBuffer | null> => {
      const before = client.getQueryData<LogBuffer | null>(queryKey) ?? undefined;
      const answer = await callExtra(
        "showWorkerLog",
        { id },
        before === undefined ? { lines: firstLines } : { offset: String(before.end) },
      );
      return answer === null ? null : appendLog(before, answer);
    },
    // The buffer reuses its lines itself; comparing thousands of lines each second would be wasteful.
    structuralSharing: false,
    // A returning user wants the end of the log, not everything that was written meanwhile.
    gcTime: 0,
  });

const Line = memo(function Line({ text }: { text: string }) {
  return <div className="min-h-4 wrap-anywhere whitespace-pre-wrap">{text}</div>;
});

/** Position of a line in the log, independent of scrolling. */
const topInLog = (line: HTMLElement): number =>
  line.offsetTop - (line.parentElement?.offsetTop ?? 0);

type LogLinesProps = { ref: Ref<HTMLDivElement>; lines: readonly LogLine[] };

/** Memoized: each line renders once, and a search changes none of them. */
const LogLines = memo(function LogLines({ ref, lines }: LogLinesProps) {
  return (
    <div ref={ref}>
      {lines.map(({ number, text }) => (
        <Line key={number} text={text} />
      ))}
    </div>
  );
});

type WorkerLogProps = {
  id: number;
  /** Name of the worker. */
  name: string;
  /** Whether processes run, so that new lines may come at any time. */
  isLive: boolean;
  /** Whether the worker is being deleted: a request for its log would get a 404. */
  isEnding: boolean;
};

export function WorkerLog({ id, name, isLive, isEnding }: WorkerLogProps) {
  const [mode, setMode] = useState<Mode>("following");
  const [needle, setNeedle] = useState("");
  /**
   * The match that was jumped to, identified by its line number, because its index changes as old lines are dropped.
   */
  const [jumped, setJumped] = useState<{ number: number; start: number } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);

  const { data: buffer, error } = useQuery({
    ...workerLogQuery(id),
    enabled: mode !== "paused",
    refetchInterval: ({ state }) =>
      !isEnding &&
      state.data !== null &&
      (state.data?.isBehind === true ? behindMs : isLive ? liveMs : quietMs),
  });
  const lines = buffer?.lines ?? noLines;

  const newest = useRef<{ line: HTMLElement; top: number } | null>(null);
  useLayoutEffect(() => {
    if (mode === "following" && lines.length > 0)
      box.current?.scrollTo({ top: box.current.scrollHeight });
    // Safari has no scroll anchoring, so dropped lines would move the text.
    if (CSS.supports("overflow-anchor", "auto")) return;
    const before = newest.current;
    if (mode === "scrolled" && before?.line.isConnected === true)
      box.current?.scrollBy({ top: topInLog(before.line) - before.top });
    const line = list.current?.lastElementChild;
    newest.current = line instanceof HTMLElement ? { line, top: topInLog(line) } : null;
  }, [lines, mode]);

  const wanted = needle.trim();
  const matches = useMemo(() => findMatches(lines, wanted), [lines, wanted]);
  /** -1 = none. */
  const current = matches.findIndex(
    ({ line, start }) => lines[line]?.number === jumped?.number && start === jumped?.start,
  );
  useLayoutEffect(() => {
    if (list.current !== null) return highlight(list.current, matches, matches[current]);
  }, [matches, current]);

  if (buffer === null)
    return (
      <Panel title="Log">
        <p className="px-4 py-3 text-muted">This service doesn't provide worker logs.</p>
      </Panel>
    );

  const readScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent) => {
    const isAtEnd = scrollHeight - scrollTop - clientHeight <= bottomPx;
    setMode((now) => (now === "paused" ? now : isAtEnd ? "following" : "scrolled"));
  };

  /** Scrolls within the box, so that the page and the search field stay in place. */
  const scrollTo = (line: number) => {
    const frame = box.current?.getBoundingClientRect();
    const found = list.current?.children[line]?.getBoundingClientRect();
    if (frame !== undefined && found !== undefined)
      box.current?.scrollBy({ top: found.top - frame.top - frame.height / 2 });
  };

  const jumpToMatch = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    // Upwards from the newest match; with Shift downwards.
    const step = event.shiftKey ? 1 : -1;
    const next = current === -1 ? matches.length - 1 : current + step + matches.length;
    const match = matches[next % matches.length];
    const line = lines[match?.line ?? -1];
    if (match === undefined || line === undefined) return;
    setJumped({ number: line.number, start: match.start });
    scrollTo(match.line);
  };

  return (
    <Panel
      title="Log"
      actions={
        <>
          <output className="me-1 text-sm text-muted">
            {wanted !== "" && countText(matches.length, current)}
          </output>
          <input
            type="search"
            aria-label="Search the log"
            placeholder="Search"
            value={needle}
            onChange={(event) => {
              setNeedle(event.target.value);
              setJumped(null);
            }}
            onKeyDown={jumpToMatch}
            className="h-8 w-44 rounded-md border border-edge bg-field px-2.5 text-sm placeholder:text-muted max-sm:w-36 pointer-coarse:text-lg"
          />
          <CopyButton label="Copy log" text={() => lines.map(({ text }) => text).join("\n")} />
          <Button
            variant="ghost"
            size="icon"
            aria-label={mode === "paused" ? "Resume log" : "Pause log"}
            data-tip={mode === "paused" ? "Resume" : "Pause"}
            onClick={() => setMode(mode === "paused" ? "following" : "paused")}
          >
            {mode === "paused" ? <Icon name="play" /> : <Icon name="pause" />}
          </Button>
        </>
      }
    >
      <div className="relative">
        <div
          ref={box}
          role="log"
          aria-live="off"
          aria-label={`Log of ${name}`}
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a box that scrolls must be reachable by key
          tabIndex={0}
          onScroll={readScroll}
          className="h-96 overflow-auto bg-sunken px-4 py-3 font-mono text-xs -outline-offset-2 max-sm:px-3"
        >
          {buffer === undefined && error === null && <Skeleton width="w-40" />}
          {buffer === undefined && error !== null && !hasStatus(error, 401) && (
            <p className="text-bad">
              <ErrorText error={error} />
            </p>
          )}
          {buffer !== undefined && buffer.problem !== null && (
            <p className="text-bad">{buffer.problem}</p>
          )}
          {buffer !== undefined && buffer.problem === null && lines.length === 0 && (
            <p className="text-muted">No output yet.</p>
          )}
          <LogLines ref={list} lines={lines} />
        </div>
        {mode !== "following" && (
          <div className="absolute end-4 bottom-3">
            <Button size="sm" onClick={() => setMode("following")}>
              <Icon name="bottom" />
              {mode === "paused" ? "Paused. Resume" : "Follow"}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}
