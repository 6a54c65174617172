// The layout of every page with a form: header, fields, side panels, and buttons. Validates the values by the
// contract's schema as the service does, sends them, shows the service's errors at their fields, and asks before
// unsaved values are lost.
import { zodResolver } from "@hookform/resolvers/zod";
import { type MouseEvent, type ReactNode, useEffect } from "react";
import { flushSync } from "react-dom";
import {
  type DefaultValues,
  type FieldErrors,
  type FieldValues,
  FormProvider,
  useForm,
} from "react-hook-form";
import { useNavigate } from "react-router";
import type * as z from "zod/mini";
import "../../../contract/validation-messages.ts";
import { bringIntoView } from "../../ui/focus/bring-into-view.ts";
import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { RequestId } from "../../ui/text/RequestId.tsx";
import { type Crumb, Crumbs } from "../place/Crumbs.tsx";
import { setServerErrors } from "./form-values.ts";
import { LeaveGuard, savedState } from "./LeaveGuard.tsx";
import { LinkButton } from "../LinkButton.tsx";
import { focusLateHeading, leaveSaved } from "../routing/page-change.ts";
import { toast } from "../toasts.ts";
import { useTypedValues } from "./typed-values.ts";

type FormPageProps<Values extends FieldValues, Body> = {
  /** Title of the page, and accessible name of the form. */
  title: string;
  /** See `PageHeader`. */
  context: readonly string[];
  crumbs: readonly Crumb[];
  /** Between the header and the form. */
  notice?: ReactNode;
  /** Schema of the body that is sent. */
  schema: z.ZodMiniType<Body, Values> & { shape?: object };
  /** The fields that can show errors; default: those of the schema. */
  names?: readonly string[] | undefined;
  defaultValues: DefaultValues<Values>;
  /**
   * Saves the form. Resolves with where to go, and the message to show there; null when the page itself changes.
   * Rejects with the service's error.
   */
  save: (body: Body) => Promise<{ to: string; text: string } | null>;
  /**
   * Called first with an error.
   * @returns whether the error was shown elsewhere, so that the form does not show it
   */
  onRefused?: ((error: unknown) => boolean) | undefined;
  /** The submit button, and its label while saving: ["Create worker", "Creating…"]. */
  submit: readonly [label: string, busyLabel: string];
  cancelTo: string;
  /** E.g. "Leave without creating the worker?" */
  leaveQuestion: string;
  /** The fields, which access the form by `useFormContext`. */
  children: ReactNode;
  /** Between the fields and the buttons: the result so far. */
  outcome?: ReactNode;
  /** Next to the submit button. */
  actions?: ReactNode;
  /** Next to the fields: the result of the present values. On a narrow page below the buttons. */
  preview?: ReactNode;
  /** Next to the fields: reference information. On a narrow page below the preview. */
  reference?: ReactNode;
};

// Spans both rows; the second takes the height that exceeds the fields.
const asideClass = "grid gap-4 lg:sticky lg:top-6 lg:col-start-2 lg:row-span-2 lg:row-start-1";
const withAside = "items-start lg:grid-rows-[auto_1fr] lg:gap-x-10";
const withPreview = `${withAside} lg:grid-cols-[minmax(0,1fr)_20rem]`;
const withReference = `${withAside} lg:grid-cols-[minmax(0,1fr)_22rem]`;

/**
 * Keeps the focus in the current field until the click: its validation error appears when it loses the focus, and would
 * move the button away from the pointer before the mouse button is released.
 */
const keepFocus = (event: MouseEvent) => event.preventDefault();

/**
 * Shows errors of the service that belong to no field. `setServerErrors` stores them there, with the request id as the
 * type.
 */
function FormError({ errors }: { errors: FieldErrors }) {
  const { message, type: requestId } = errors.root?.["service"] ?? {};
  if (message === undefined) return null;
  return (
    <div ref={bringIntoView} className="scroll-my-24">
      <Notice tone="bad" isAlert>
        {message}
        {typeof requestId === "string" && requestId !== "" && <RequestId id={requestId} />}
      </Notice>
    </div>
  );
}

export function FormPage<Values extends FieldValues, Body>({
  title,
  context,
  crumbs,
  notice,
  schema,
  names = Object.keys(schema.shape ?? {}),
  defaultValues,
  save,
  onRefused,
  submit: [label, busyLabel],
  cancelTo,
  leaveQuestion,
  children,
  outcome,
  actions,
  preview,
  reference,
}: FormPageProps<Values, Body>) {
  const navigate = useNavigate();
  const form = useForm<Values, unknown, Body>({
    defaultValues,
    resolver: zodResolver(schema),
    mode: "onTouched",
  });
  const { isSubmitting, isDirty, errors } = form.formState;
  const isRestored = useTypedValues(form);
  // The shell moves the focus to another path only, and another query is another form, too.
  useEffect(focusLateHeading, []);
  const submit = form.handleSubmit(async (body) => {
    try {
      const saved = await save(body);
      if (saved === null) return;
      // Nothing can be lost any more, so that going back asks nothing.
      flushSync(() => form.reset(form.getValues()));
      leaveSaved(navigate, saved.to, savedState);
      toast.success(saved.text);
    } catch (error) {
      if (onRefused?.(error) !== true) setServerErrors(error, names, form.setError);
    }
  });
  const columns = reference ? withReference : preview ? withPreview : "max-w-2xl";
  return (
    <>
      <PageHeader title={title} context={context} crumbs={<Crumbs items={crumbs} />} />
      {isRestored && (
        <Notice tone="busy">
          Restored your unsaved changes from before the token was refused.
        </Notice>
      )}
      {notice}
      <FormProvider {...form}>
        <LeaveGuard isDirty={isDirty} question={leaveQuestion} hasQuery />
        <form
          noValidate
          aria-label={title}
          onSubmit={(event) => void submit(event)}
          className={`grid gap-6 ${columns}`}
        >
          <div className="grid gap-5">
            <div className="grid gap-6 rounded-lg border border-line bg-raised p-5 shadow-raised max-sm:p-4">
              {children}
            </div>
            {outcome}
            {/* Next to the button that was pressed: above a long form nobody would see it. */}
            <FormError errors={errors} />
          </div>
          <div className="flex flex-wrap gap-2">
            <Button
              type="submit"
              variant="primary"
              isPending={isSubmitting}
              onMouseDown={keepFocus}
            >
              {isSubmitting ? busyLabel : label}
            </Button>
            {actions}
            <LinkButton to={cancelTo} isBack onMouseDown={keepFocus}>
              Cancel
            </LinkButton>
          </div>
          {preview && <div className={asideClass}>{preview}</div>}
          {reference && <div className={asideClass}>{reference}</div>}
        </form>
      </FormProvider>
    </>
  );
}
