import { Profiler, act, createElement, useMemo, useState, type ReactElement, type ReactNode } from "react";
import { create, type ReactTestInstance, type ReactTestRenderer } from "react-test-renderer";
import { type Navigation } from "@raycast/api";
import { NavigationContext } from "./components";
import { Clipboard, open, showHUD, showInFinder, trash } from "./system";
import { world } from "./world";

Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);
// The renderer is no longer developed, which it says on every mount unless it is told that we know.
Reflect.set(globalThis, "IS_REACT_NATIVE_TEST_ENVIRONMENT", true);

const POLL_MS = 10;
const DEADLINE_MS = 30_000;

interface Frame {
  element: ReactNode;
  onPop?: (() => void) | undefined;
}

interface Handle {
  commits: number;
  navigation?: Navigation;
}

/** Raycast's own stack of views: pushed views cover the earlier ones, which stay mounted. */
function Window({
  root,
  handle,
  onCommit,
}: {
  root: ReactElement;
  handle: Handle;
  onCommit: () => void;
}): ReactElement {
  const [stack, setStack] = useState<Frame[]>([{ element: root }]);
  const navigation = useMemo(
    () => ({
      push: (element: ReactNode, onPop?: () => void) => setStack((frames) => [...frames, { element, onPop }]),
      pop: () =>
        setStack((frames) => {
          if (frames.length < 2) return frames;
          const top = frames.at(-1);
          queueMicrotask(() => top?.onPop?.());
          return frames.slice(0, -1);
        }),
    }),
    [],
  );
  handle.navigation = navigation;
  return (
    <NavigationContext.Provider value={navigation}>
      <Profiler id="window" onRender={onCommit}>
        {stack.map((frame, depth) =>
          createElement("rc-view", { key: depth, top: depth === stack.length - 1 }, frame.element),
        )}
      </Profiler>
    </NavigationContext.Provider>
  );
}

export interface SeenItem {
  id: string | undefined;
  title: string;
  subtitle: string;
  section: string | undefined;
  /** Accessory texts, tags and tooltips. */
  accessories: string[];
  markdown: string | undefined;
  instance: ReactTestInstance;
}

/** A mounted command, driven the way a person drives it: by what is written on the screen. */
export class Screen {
  readonly #renderer: ReactTestRenderer;
  readonly #handle: Handle;
  readonly #typed = new Map<string, unknown>();

  private constructor(renderer: ReactTestRenderer, handle: Handle) {
    this.#renderer = renderer;
    this.#handle = handle;
  }

  static async mount(root: ReactElement): Promise<Screen> {
    const handle: Handle = { commits: 0 };
    let renderer: ReactTestRenderer | undefined;
    await act(async () => {
      renderer = create(<Window root={root} handle={handle} onCommit={() => (handle.commits += 1)} />);
    });
    if (renderer === undefined) throw new Error("The command did not mount.");
    return new Screen(renderer, handle);
  }

  /** How often React has committed a change. */
  get commits(): number {
    return this.#handle.commits;
  }

  /** The view on top of the stack. */
  get view(): ReactTestInstance {
    const top = this.#renderer.root.findAll((node) => nameOf(node) === "rc-view" && node.props.top === true, {
      deep: false,
    });
    const [view] = top;
    if (view === undefined) throw new Error("No view is mounted.");
    return view;
  }

  get depth(): number {
    return this.#renderer.root.findAll((node) => nameOf(node) === "rc-view").length;
  }

  all(type: string, under: ReactTestInstance = this.view): ReactTestInstance[] {
    return under.findAll((node) => nameOf(node) === `rc-${type}`);
  }

  get kind(): "list" | "detail" | "form" | "menu-bar" | "nothing" {
    for (const kind of ["list", "detail", "form", "menu-bar"] as const) if (this.all(kind).length > 0) return kind;
    return "nothing";
  }

  get isLoading(): boolean {
    const top = this.all(this.kind)[0];
    return top?.props.isLoading === true;
  }

  items(): SeenItem[] {
    return this.all("list-item").map((instance) => {
      const { id, title, subtitle, accessories } = instance.props;
      const section = enclosing(instance, "rc-list-section")?.props.title;
      const [detail] = this.all("list-item-detail", instance);
      return {
        id: asText(id),
        title: textOf(title),
        subtitle: textOf(subtitle),
        section: asText(section),
        accessories: Array.isArray(accessories) ? accessories.flatMap(accessoryTexts) : [],
        markdown: asText(detail?.props.markdown),
        instance,
      };
    });
  }

  /** The text of the empty state, when the list shows it. */
  emptyView(): { title: string; description: string; instance: ReactTestInstance } | null {
    const [instance] = this.all("empty-view");
    if (instance === undefined || this.items().length > 0 || this.isLoading) return null;
    return {
      title: textOf(instance.props.title),
      description: textOf(instance.props.description),
      instance,
    };
  }

  markdown(): string {
    const [detail] = this.all("detail");
    return asText(detail?.props.markdown) ?? "";
  }

  /** `title: text` of every metadata label in view. */
  metadata(under: ReactTestInstance = this.view): Record<string, string> {
    const labels = this.all("metadata-label", under).map((label) => [label.props.title, textOf(label.props.text)]);
    return Object.fromEntries(labels);
  }

  /** Everything that is written on the screen, for assertions that do not care where. */
  text(): string {
    const seen: string[] = [];
    for (const node of this.view.findAll((candidate) => nameOf(candidate) !== "")) {
      for (const key of ["navigationTitle", "title", "subtitle", "text", "description", "markdown", "tooltip"]) {
        const value = textOf(node.props[key]);
        if (value !== "") seen.push(value);
      }
      if (Array.isArray(node.props.accessories)) seen.push(...node.props.accessories.flatMap(accessoryTexts));
    }
    return seen.join("\n");
  }

  item(title: string): SeenItem {
    const found = this.items().find((item) => item.title === title);
    if (found === undefined) throw new Error(`No item "${title}" in: ${this.items().map((item) => item.title)}`);
    return found;
  }

  async search(text: string): Promise<void> {
    const [list] = this.all("list");
    await act(async () => list?.props.onSearchTextChange?.(text));
  }

  /** Chooses a value of the dropdown in the search bar. */
  async choose(value: string): Promise<void> {
    const [dropdown] = this.all("dropdown");
    if (dropdown === undefined) throw new Error("There is no dropdown.");
    const offered = this.all("dropdown-item", dropdown).map((item) => item.props.value);
    if (!offered.includes(value)) throw new Error(`The dropdown offers ${offered.join(", ")}, not ${value}.`);
    await act(async () => dropdown.props.onChange?.(value));
  }

  async select(id: string): Promise<void> {
    const [list] = this.all("list");
    await act(async () => list?.props.onSelectionChange?.(id));
  }

  get hasMore(): boolean {
    return this.all("list")[0]?.props.pagination?.hasMore === true;
  }

  async loadMore(): Promise<void> {
    const [list] = this.all("list");
    await act(async () => list?.props.pagination?.onLoadMore?.());
  }

  /** The titles of the actions of an item, or of the view. */
  actions(under: ReactTestInstance = this.view): string[] {
    return this.#actionsUnder(under).map((action) => textOf(action.props.title) || defaultTitle(action));
  }

  #actionsUnder(under: ReactTestInstance): ReactTestInstance[] {
    return under.findAll((node) => /^rc-(action($|-(?!panel|section|submenu))|menu-item)/.test(nameOf(node)));
  }

  actionProps(title: string, under: ReactTestInstance = this.view): Record<string, unknown> {
    return this.#action(title, under).props;
  }

  #action(title: string, under: ReactTestInstance): ReactTestInstance {
    const action = this.#actionsUnder(under).find(
      (candidate) => (textOf(candidate.props.title) || defaultTitle(candidate)) === title,
    );
    if (action === undefined) throw new Error(`No action "${title}" in: ${this.actions(under).join(", ")}`);
    return action;
  }

  /** Performs an action and waits for what it starts. */
  async perform(title: string, under: ReactTestInstance = this.view): Promise<void> {
    const action = this.#action(title, under);
    const { props } = action;
    await act(async () => {
      switch (nameOf(action)) {
        case "rc-action-copy":
          await Clipboard.copy(props.content, { concealed: props.concealed, transient: props.transient });
          props.onCopy?.(props.content);
          await showHUD("Copied to Clipboard");
          return;
        case "rc-action-paste":
          await Clipboard.paste(props.content);
          props.onPaste?.(props.content);
          return;
        case "rc-action-push":
          props.onPush?.();
          this.#navigation().push(props.target, props.onPop);
          return;
        case "rc-action-finder":
          await showInFinder(props.path);
          props.onShow?.(props.path);
          return;
        case "rc-action-open":
        case "rc-action-open-with":
          await open(props.target ?? props.path);
          props.onOpen?.(props.target ?? props.path);
          return;
        case "rc-action-open-browser":
          await open(props.url);
          return;
        case "rc-action-trash":
          await trash(props.paths);
          props.onTrash?.(props.paths);
          return;
        case "rc-action-quick-look":
          world().opened.push({ how: "quick-look", target: "selection" });
          return;
        case "rc-action-submit":
          await props.onSubmit?.(this.values());
          return;
        default:
          await props.onAction?.({ type: "left-click" });
      }
    });
  }

  #navigation(): Navigation {
    const { navigation } = this.#handle;
    if (navigation === undefined) throw new Error("Nothing is mounted.");
    return navigation;
  }

  /** Goes back one view, as Escape does. */
  async back(): Promise<void> {
    await act(async () => this.#navigation().pop());
  }

  async fill(id: string, value: unknown): Promise<void> {
    const field = this.#fields().find((candidate) => candidate.props.id === id);
    if (field === undefined) throw new Error(`The form has no field ${id}.`);
    this.#typed.set(id, value);
    await act(async () => field.props.onChange?.(value));
  }

  /** The values of the form in view: typed, controlled, or given as defaults. */
  values(): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const { props } of this.#fields()) {
      values[props.id] = this.#typed.get(props.id) ?? props.value ?? props.defaultValue ?? "";
    }
    return values;
  }

  fieldError(id: string): string | undefined {
    return asText(this.#fields().find((field) => field.props.id === id)?.props.error);
  }

  #fields(): ReactTestInstance[] {
    return this.view.findAll((node) => nameOf(node).startsWith("rc-field-"));
  }

  /** Waits until something holds; fails with what is on the screen. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS;
    while (!holds()) {
      if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}. On the screen:\n${this.text()}`);
      await act(async () => {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      });
    }
  }

  async settled(): Promise<void> {
    await this.until("nothing is loading", () => !this.isLoading);
  }

  /** The window closes for good: everything is unmounted. */
  async close(): Promise<void> {
    await act(async () => this.#renderer.unmount());
  }
}

/** The name of a host element; empty for a component. */
function nameOf({ type }: ReactTestInstance): string {
  const name: unknown = type;
  return typeof name === "string" ? name : "";
}

function enclosing(instance: ReactTestInstance, type: string): ReactTestInstance | null {
  for (let node = instance.parent; node !== null; node = node.parent) if (nameOf(node) === type) return node;
  return null;
}

const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null && "value" in value) return textOf(value.value);
  return "";
}

function accessoryTexts(accessory: unknown): string[] {
  if (typeof accessory !== "object" || accessory === null) return [];
  return ["text", "tag", "tooltip"].map((key) => textOf(Reflect.get(accessory, key))).filter((text) => text !== "");
}

const defaultTitles: Record<string, string> = {
  "rc-action-copy": "Copy to Clipboard",
  "rc-action-finder": "Show in Finder",
  "rc-action-open-with": "Open With",
  "rc-action-trash": "Move to Trash",
  "rc-action-quick-look": "Quick Look",
  "rc-action-submit": "Submit Form",
};

function defaultTitle(action: ReactTestInstance): string {
  return defaultTitles[nameOf(action)] ?? "";
}
