import { type ComponentProps, useId } from "react";
import { useChangeRefusal } from "../commands/permission.ts";

type CheckboxProps = Omit<ComponentProps<"input">, "className" | "type"> & {
  /** Neither checked nor not: some of what it stands for is. */
  isMixed?: boolean;
  /** A click is saved at the service, which not every token may do. */
  isChange?: boolean;
};

export function Checkbox({ isMixed, isChange = false, ref, ...rest }: CheckboxProps) {
  const reasonId = useId();
  const refusal = useChangeRefusal(isChange);
  // No attribute says this. A form's box is never mixed, and keeps the ref of its form.
  const mix = (box: HTMLInputElement | null) => {
    if (box !== null) box.indeterminate = isMixed ?? false;
  };
  // It stays focusable, so that everyone can find out why.
  const refused = refusal !== undefined && {
    "aria-disabled": true,
    "aria-describedby": `${rest["aria-describedby"] ?? ""} ${reasonId}`,
    "data-reason": refusal,
    onChange: () => {},
  };
  return (
    <>
      <input
        {...rest}
        {...refused}
        ref={isMixed === undefined ? ref : mix}
        type="checkbox"
        className="size-6 shrink-0 aria-disabled:opacity-45 sm:size-4"
      />
      {refused && (
        <span id={reasonId} hidden>
          {refusal}
        </span>
      )}
    </>
  );
}
