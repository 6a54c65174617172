// What a worker is called wherever one is named: by what it works through, not by its number.

type Named = { queue: string; connection: string };

/** "emails on redis". Two workers may share it. */
export const workerName = ({ queue, connection }: Named): string => `${queue} on ${connection}`;

/** "emails on redis (worker 7)": where nothing around it says which one, such as a label, a command or a toast. */
export const workerLabel = (worker: Named & { id: number }): string =>
  `${workerName(worker)} (worker ${worker.id})`;
