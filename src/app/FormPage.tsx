// The shape of every page with a form of its own: title and place, the fields, what belongs beside them, the buttons at
// the end. It checks the values by the contract's schema as the service does, sends them, puts what the service has
// against them on the fields, and asks before they are lost.
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
  /** Of the page, and the form's name for a screen reader. */
  title: string;
  /** As of the header. */
  context: readonly string[];
  crumbs: readonly Crumb[];
  /** Between the header and the form. */
  notice?: ReactNode;
  /** Of what is sent. */
  schema: z.ZodMiniType<Body, Values> & { shape?: object };
  /** The fields that the form shows complaints at; without it, the schema's own. */
  names?: readonly string[] | undefined;
  defaultValues: DefaultValues<Values>;
  /**
   * Resolves when it is stored: where to go then, and what to tell there; null when the page itself turns into something
   * else. Throws what the service has against it.
   */
  save: (body: Body) => Promise<{ to: string; text: string } | null>;
  /** Sees a refusal first. @returns whether it is told already, and not by the form */
  onRefused?: ((error: unknown) => boolean) | undefined;
  /** The submit button, and the same while it is being saved: ["Create worker", "Creating…"]. */
  submit: readonly [label: string, busyLabel: string];
  cancelTo: string;
  /** E.g. "Leave without creating the worker?" */
  leaveQuestion: string;
  /** The fields, which find the form by `useFormContext`. */
  children: ReactNode;
  /** Between the fields and the buttons: what came of the form so far. */
  outcome?: ReactNode;
  /** Beside the submit button. */
  actions?: ReactNode;
  /** Beside the fields: what they amount to. A narrow page has it below the buttons. */
  preview?: ReactNode;
  /** Beside the fields: what is good to know. A narrow page has it below that. */
  reference?: ReactNode;
};

// Beside both rows, of which the second takes what it is higher than the fields.
const asideClass = "grid gap-4 lg:sticky lg:top-6 lg:col-start-2 lg:row-span-2 lg:row-start-1";
const withAside = "items-start lg:grid-rows-[auto_1fr] lg:gap-x-10";
const withPreview = `${withAside} lg:grid-cols-[minmax(0,1fr)_20rem]`;
const withReference = `${withAside} lg:grid-cols-[minmax(0,1fr)_22rem]`;

/**
 * The field at hand keeps the focus until the click: what is wrong with it is told when it loses the focus, and would
 * push the button away from under the pointer before that is up again.
 */
const keepFocus = (event: MouseEvent) => event.preventDefault();

/** What the service said that belongs to no field; `setServerErrors` puts it there, with the request's id as its type. */
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
      // What was made takes the form's place: Back leads to where the form was opened, not to an empty one.
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
