import { keyClass } from "./key-class.ts";

type KeyProps = {
  children: string;
  /** Read out too, where the key itself is what is told; elsewhere the control tells it. */
  isRead?: boolean;
};

/** A key of the keyboard, or several pressed at once. */
export function Key({ children, isRead = false }: KeyProps) {
  return (
    <kbd aria-hidden={!isRead || undefined} className={keyClass}>
      {children}
    </kbd>
  );
}
