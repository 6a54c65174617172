import { type ComponentProps, useId } from "react";
import { useChangeRefusal } from "../../commands/permission.ts";

type CheckboxProps = Omit<ComponentProps<"input">, "className" | "type"> & {
  /** Indeterminate: some of the items that it stands for are checked. */
  isMixed?: boolean;
  /** Whether a click changes data, which a token may forbid. */
  isChange?: boolean;
};

export function Checkbox({ isMixed, isChange = false, ref, ...rest }: CheckboxProps) {
  const reasonId = useId();
  const refusal = useChangeRefusal(isChange);
  // There is no attribute for this. A checkbox of a form is never indeterminate, and keeps the ref of its form.
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
