/** Patterns, one on each line. */
export const ExcludedList = ({ lines }: { lines: readonly string[] }) => (
  <ul>
    {[...new Set(lines)].map((line) => (
      <li key={line} className="font-mono text-xs wrap-anywhere">
        {line}
      </li>
    ))}
  </ul>
);
