/** The product's mark, as in the favicon. */
export function Mark() {
  return (
    <svg aria-hidden viewBox="4 4 24 24" className="size-5 shrink-0">
      <path d="M16 6.5 23 19H16z" fill="currentColor" />
      <path d="M14 10.5V19H9.2z" className="fill-accent" />
      <path d="M6 22h20" stroke="currentColor" strokeWidth="2.5" strokeLinecap="round" />
    </svg>
  );
}
