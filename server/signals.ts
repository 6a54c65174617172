// What each signal asks of the service.
type SignalActions = {
  /** In good order, with all the time that this takes. */
  stop(signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void;
  /** Without waiting for anything. */
  endAtOnce(): void;
  /** Reads again what people may have changed. */
  reload(): void;
};

type Options = {
  on: (signal: NodeJS.Signals, run: () => void) => void;
  /** A terminal sends Ctrl-C to npm and to us, and npm passes it on once more: not everyone of them is a new one. */
  isUnderNpm: boolean;
  /** Whether there was a terminal and is none any more. */
  hasLostTerminal: () => boolean;
  nowMs: () => number;
};

/** How long npm's copy of a signal may take on a busy machine. */
const npmCopyMs = 1000;

/**
 * Ctrl-C and SIGTERM stop the service, a second Ctrl-C ends it at once. SIGHUP reloads, as for other services; when it says
 * that the terminal was closed, it stops.
 */
export function watchSignals(options: Options, actions: SignalActions): void {
  const { on, isUnderNpm, hasLostTerminal, nowMs } = options;
  let stoppedAtMs: number | null = null;

  const stop = (signal: "SIGINT" | "SIGTERM" | "SIGHUP") => {
    if (stoppedAtMs !== null) return;
    stoppedAtMs = nowMs();
    actions.stop(signal);
  };

  on("SIGINT", () => {
    const isCopy = isUnderNpm && nowMs() - (stoppedAtMs ?? 0) < npmCopyMs;
    if (stoppedAtMs === null) stop("SIGINT");
    else if (!isCopy) actions.endAtOnce();
  });
  on("SIGTERM", () => stop("SIGTERM"));
  on("SIGHUP", () => {
    if (hasLostTerminal()) stop("SIGHUP");
    else actions.reload();
  });
}

const parentMs = 500;

/**
 * Calls `gone` once the process that started this one has ended. `npx` runs a shell between the two, and a SIGTERM to npx
 * ends that shell alone; the service would go on without anybody who knows of it.
 */
export function watchParent(parent: () => number, gone: () => void): void {
  const first = parent();
  const timer = setInterval(() => {
    if (parent() === first) return;
    clearInterval(timer);
    gone();
  }, parentMs);
  timer.unref();
}
