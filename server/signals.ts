// Maps signals to actions of the service.
type SignalActions = {
  /** Shuts down in an orderly way, with all the time that this takes. */
  stop(signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void;
  /** Exits without waiting for anything. */
  endAtOnce(): void;
  /** Reads again what operators may have changed. */
  reload(): void;
};

type Options = {
  on: (signal: NodeJS.Signals, run: () => void) => void;
  /**
   * Whether npm started the process. A terminal sends Ctrl-C to npm and to this process, and npm forwards it, so one Ctrl-C
   * arrives twice.
   */
  isUnderNpm: boolean;
  /** Whether the process had a terminal that is closed now. */
  hasLostTerminal: () => boolean;
  nowMs: () => number;
};

/** How long npm may take to forward a signal on a busy machine. */
const npmCopyMs = 1000;

/**
 * Ctrl-C and SIGTERM stop the service, and a second Ctrl-C ends it at once. SIGHUP reloads, as in other services, unless the
 * terminal was closed, which stops the service.
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
 * Calls `gone` once the parent process has ended. `npx` runs a shell in between, and a SIGTERM to npx only ends that shell, so
 * that the service would keep running unnoticed.
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
