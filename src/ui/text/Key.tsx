import { keyClass } from "./key-class.ts";

type KeyProps = {
  children: string;
  /** Whether screen readers read it; otherwise `aria-keyshortcuts` of the control has the key. */
  isRead?: boolean;
};

/** A key, or several keys pressed at once. */
export function Key({ children, isRead = false }: KeyProps) {
  return (
    <kbd aria-hidden={!isRead || undefined} className={keyClass}>
      {children}
    </kbd>
  );
}
