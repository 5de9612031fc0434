/** What a test tells an isolate to do, and what it answers. */
export type Call =
  | { do: "view"; command: string; arguments?: Record<string, string> }
  | { do: "no-view"; command: string }
  | { do: "until"; text: string }
  | { do: "settled" | "load-more" | "titles" | "text" | "world" }
  | { do: "search"; text: string }
  | { do: "perform"; action: string }
  | { do: "fill"; id: string; value: unknown }
  | { do: "field-error"; id: string };

export type Answer = { id: number; value?: unknown; error?: string };

export interface IsolateOptions {
  bundles: string;
  manifestPath: string;
  supportPath: string;
  preferences: Record<string, unknown>;
  /** Answers to confirmation dialogs, in order. */
  answers?: boolean[];
  localStorage?: Record<string, string>;
}

export interface WorldReport {
  huds: string[];
  /** Newest first. */
  clipboard: string[];
  toasts: string[];
  launches: string[];
  windowClosed: boolean;
  alerts: string[];
}
