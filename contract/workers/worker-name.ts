// The name of a worker wherever one is shown: its queue and connection, not its number.

type Named = { queue: string; connection: string };

/** "emails on redis". Two workers may share a name. */
export const workerName = ({ queue, connection }: Named): string => `${queue} on ${connection}`;

/**
 * "emails on redis (worker 7)": where the context does not identify the worker, such as a label, a command or a toast.
 */
export const workerLabel = (worker: Named & { id: number }): string =>
  `${workerName(worker)} (worker ${worker.id})`;
