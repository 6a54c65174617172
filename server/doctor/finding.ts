// Builds the results of checks.
import type { Diagnosis } from "../../contract/doctor.ts";

export const ok = (name: string, message: string): Diagnosis => ({
  name,
  state: "ok",
  message,
  cure: null,
});

export const warning = (name: string, message: string, cure: string | null): Diagnosis => ({
  name,
  state: "warning",
  message,
  cure,
});

export const failed = (name: string, message: string, cure: string | null): Diagnosis => ({
  name,
  state: "failed",
  message,
  cure,
});
