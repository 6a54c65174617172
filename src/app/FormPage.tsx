// The layout and behavior of every form page: checks values with the contract's schema as the service does, submits them, shows
// the service's errors at the fields, and asks before changes are lost.
import { zodResolver } from "@hookform/resolvers/zod";
import type { MouseEvent, ReactNode } from "react";
import {
  type DefaultValues,
  type FieldErrors,
  type FieldValues,
  FormProvider,
  useForm,
} from "react-hook-form";
import { useNavigate } from "react-router";
import type * as z from "zod/mini";
import "../../contract/validation-messages.ts";
import { bringIntoView } from "../ui/bring-into-view.ts";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { RequestId } from "../ui/RequestId.tsx";
import { type Crumb, Crumbs } from "./Crumbs.tsx";
import { setServerErrors } from "./form-values.ts";
import { LeaveGuard, savedState } from "./LeaveGuard.tsx";
import { LinkButton } from "./LinkButton.tsx";
import { toast } from "./toasts.ts";
import { useTypedValues } from "./typed-values.ts";

type FormPageProps<Values extends FieldValues, Body> = {
  /** Title of the page, and accessible name of the form. */
  title: string;
  /** As `context` of `PageHeader`. */
  context: readonly string[];
  crumbs: readonly Crumb[];
  /** Between the header and the form. */
  notice?: ReactNode;
  /** Schema of the request body. */
  schema: z.ZodMiniType<Body, Values> & { shape?: object };
  /** Fields that show errors; by default those of the schema. */
  names?: readonly string[] | undefined;
  defaultValues: DefaultValues<Values>;
  /**
   * Resolves once the body is stored: where to go, and the toast to show there; null where the page shows the result itself.
   * Throws the service's error.
   */
  save: (body: Body) => Promise<{ to: string; text: string } | null>;
  /**
   * Handles an error before the form does.
   * @returns whether the error needs no display by the form
   */
  onRefused?: ((error: unknown) => boolean) | undefined;
  /** Labels of the submit button, idle and busy: ["Create worker", "Creating…"]. */
  submit: readonly [label: string, busyLabel: string];
  cancelTo: string;
  /** E.g. "Leave without creating the worker?" */
  leaveQuestion: string;
  /** The fields, which find the form by `useFormContext`. */
  children: ReactNode;
  /** Result so far, between the fields and the buttons. */
  outcome?: ReactNode;
  /** Beside the submit button. */
  actions?: ReactNode;
  /** Preview of the values, beside the fields; on narrow screens below the buttons. */
  preview?: ReactNode;
  /** Reference, beside the fields; on narrow screens below the preview. */
  reference?: ReactNode;
};

// Spans both rows; the second row takes the height that exceeds the fields.
const asideClass = "grid gap-4 lg:sticky lg:top-6 lg:col-start-2 lg:row-span-2 lg:row-start-1";
const withAside = "items-start lg:grid-rows-[auto_1fr] lg:gap-x-10";
const withPreview = `${withAside} lg:grid-cols-[minmax(0,1fr)_20rem]`;
const withReference = `${withAside} lg:grid-cols-[minmax(0,1fr)_22rem]`;

/**
 * Keeps the focus in the field until the click: losing focus shows its error, which would move the button from under the pointer.
 */
const keepFocus = (event: MouseEvent) => event.preventDefault();

/** Errors that belong to no field. `setServerErrors` puts them there, with the request id as their type. */
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
  const submit = form.handleSubmit(async (body) => {
    try {
      const saved = await save(body);
      if (saved === null) return;
      // Replaces the form in the history, so that Back leads to where it was opened and not to an empty form.
      await navigate(saved.to, { state: savedState, replace: true });
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
        <LeaveGuard isDirty={isDirty} question={leaveQuestion} />
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
            {/* Beside the button that was pressed: above a long form nobody would see it. */}
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
