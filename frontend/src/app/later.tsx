/**
 * Parts that open above a screen. They are loaded when what the screen shows first is there,
 * so that they open at once, and also while the server is away.
 */
import {
  type ComponentType,
  type LazyExoticComponent,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
} from "react";
import { Dialog, Loading } from "@/kit";
import { common } from "@/texts/common";
import { retried } from "./retried";

const REST_MS = 2000;
const parts = new Set<() => Promise<unknown>>();

type Part<Props> = { default: ComponentType<Props> };

export function later<Props>(
  load: () => Promise<Part<Props>>,
): LazyExoticComponent<ComponentType<Props>> {
  const again = retried(load);
  parts.add(again);
  return lazy(again);
}

/** Load what may be opened, a moment after a screen shows what it is for. */
export function useLater(isShown: boolean): void {
  useEffect(() => {
    if (!isShown) return;
    const timer = setTimeout(() => {
      for (const load of parts) void load().catch(() => {});
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [isShown]);
}

interface OpenedProps {
  onClose: () => void;
  children: ReactNode;
}

/** A dialog that may not be loaded yet: what is typed meanwhile does not reach the screen. */
export function Opened({ onClose, children }: OpenedProps) {
  const opening = (
    <Dialog title={common.opening} onClose={onClose}>
      <Loading />
    </Dialog>
  );
  return <Suspense fallback={opening}>{children}</Suspense>;
}
