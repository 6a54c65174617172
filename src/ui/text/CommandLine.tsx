/** A command that is wrapped between its arguments, and within one only where it is longer than a line. */
export function CommandLine({ command }: { command: string }) {
  return (
    <code className="font-mono text-xs">
      {command.split(" ").map((argument, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- arguments have no other identity, and no state
        <span key={index}>
          <span className="inline-block max-w-full wrap-anywhere">{argument}</span>{" "}
        </span>
      ))}
    </code>
  );
}
