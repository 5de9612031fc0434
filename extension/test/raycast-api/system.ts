import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import type * as Api from "@raycast/api";
import { errorCode } from "../../src/lib/error-code";
import { changed, world } from "./world";

/** The functions of the API that act on the world outside the window, each typed against the real one. */

export const LaunchType = { UserInitiated: "userInitiated", Background: "background" } as typeof Api.LaunchType;
export const PopToRootType = {
  Default: "default",
  Immediate: "immediate",
  Suspended: "suspended",
} as typeof Api.PopToRootType;

export const environment: Api.Environment = new Proxy({} as Api.Environment, {
  get(_target, key) {
    if (key === "canAccess") return () => true;
    return Reflect.get(world().environment, key);
  },
});

export const getPreferenceValues: typeof Api.getPreferenceValues = <Values extends Api.PreferenceValues>() => {
  const { manifest, preferences, environment: now } = world();
  const command = manifest.commands.find((candidate) => candidate.name === now.commandName);
  const values: Api.PreferenceValues = {};
  for (const preference of [...manifest.preferences, ...(command?.preferences ?? [])]) {
    const chosen = preferences[preference.name];
    if (chosen !== undefined) values[preference.name] = chosen;
    else if (preference.default !== undefined) values[preference.name] = preference.default;
    // Raycast gives empty text fields as "" and leaves files, folders and apps out.
    else if (["textfield", "password"].includes(preference.type)) values[preference.name] = "";
    else if (preference.type === "checkbox") values[preference.name] = false;
  }
  return values as Values;
};

export const Clipboard: Pick<typeof Api.Clipboard, "copy" | "clear" | "paste" | "read" | "readText"> = {
  async copy(content, options) {
    const entry = typeof content === "object" ? content : { text: String(content) };
    world().clipboard.unshift({
      content: entry,
      concealed: options?.concealed ?? false,
      transient: options?.transient ?? false,
    });
    changed();
  },
  async clear() {
    world().clipboard.length = 0;
    changed();
  },
  async paste(content) {
    const entry = typeof content === "object" ? content : { text: String(content) };
    world().clipboard.unshift({ content: entry, concealed: false, transient: true });
    changed();
  },
  async read(options) {
    return { text: clipboardText(options?.offset ?? 0) ?? "" };
  },
  async readText(options) {
    return clipboardText(options?.offset ?? 0);
  },
};

function clipboardText(offset: number): string | undefined {
  const content = world().clipboard[offset]?.content;
  return content !== undefined && "text" in content ? content.text : undefined;
}

export const ToastStyle = { Success: "SUCCESS", Failure: "FAILURE", Animated: "ANIMATED" } as typeof Api.Toast.Style;

class ToastDouble {
  static readonly Style = ToastStyle;
  #options: Api.Toast.Options;
  visible = false;

  constructor(options: Api.Toast.Options) {
    this.#options = { ...options };
  }
  get style(): Api.Toast.Style {
    return this.#options.style ?? ToastStyle.Success;
  }
  set style(style: Api.Toast.Style) {
    this.#update({ style });
  }
  get title(): string {
    return this.#options.title;
  }
  set title(title: string) {
    this.#update({ title });
  }
  get message(): string | undefined {
    return this.#options.message;
  }
  set message(message: string | undefined) {
    const { message: _old, ...rest } = this.#options;
    this.#options = message === undefined ? rest : { ...rest, message };
    changed();
  }
  get primaryAction(): Api.Toast.ActionOptions | undefined {
    return this.#options.primaryAction;
  }
  set primaryAction(action: Api.Toast.ActionOptions | undefined) {
    const { primaryAction: _old, ...rest } = this.#options;
    this.#options = action === undefined ? rest : { ...rest, primaryAction: action };
    changed();
  }
  get secondaryAction(): Api.Toast.ActionOptions | undefined {
    return this.#options.secondaryAction;
  }
  set secondaryAction(action: Api.Toast.ActionOptions | undefined) {
    const { secondaryAction: _old, ...rest } = this.#options;
    this.#options = action === undefined ? rest : { ...rest, secondaryAction: action };
    changed();
  }
  async show(): Promise<void> {
    this.visible = true;
    changed();
  }
  async hide(): Promise<void> {
    this.visible = false;
    changed();
  }
  #update(part: Partial<Api.Toast.Options>): void {
    this.#options = { ...this.#options, ...part };
    changed();
  }
}

// The declared class has private members that only the real one can have.
export const Toast = ToastDouble as unknown as typeof Api.Toast;

export const showToast: typeof Api.showToast = async (
  first: Api.Toast.Options | Api.Toast.Style,
  title?: string,
  message?: string,
) => {
  const options: Api.Toast.Options =
    typeof first === "object"
      ? first
      : { style: first, title: title ?? "", ...(message === undefined ? {} : { message }) };
  const toast = new Toast(options);
  world().toasts.push(toast);
  await toast.show();
  return toast;
};

/** A HUD closes the window, which begins the teardown of the command. */
export const showHUD: typeof Api.showHUD = async (title) => {
  world().huds.push(title);
  world().windowClosed = true;
  changed();
};

export const closeMainWindow: typeof Api.closeMainWindow = async () => {
  world().windowClosed = true;
  changed();
};

export const popToRoot: typeof Api.popToRoot = async () => {
  world().poppedToRoot += 1;
  changed();
};

export const confirmAlert: typeof Api.confirmAlert = async (options) => {
  world().alerts.push(options);
  const answer = world().answers.shift();
  if (answer === undefined) throw new Error(`Nobody answers the dialog "${options.title}".`);
  if (answer) options.primaryAction?.onAction?.();
  else options.dismissAction?.onAction?.();
  changed();
  return answer;
};

export const launchCommand: typeof Api.launchCommand = async (options) => {
  const { manifest, disabledCommands, launches } = world();
  const known = manifest.commands.some((command) => command.name === options.name);
  if (!("extensionName" in options) && (!known || disabledCommands.has(options.name))) {
    throw new Error(`Could not launch command "${options.name}": it is missing or disabled.`);
  }
  launches.push(options);
  changed();
};

export const updateCommandMetadata: typeof Api.updateCommandMetadata = async ({ subtitle }) => {
  if (subtitle !== undefined) world().subtitle = subtitle;
  changed();
};

export const open: typeof Api.open = async (target) => {
  world().opened.push({ how: "open", target });
  changed();
};

export const showInFinder: typeof Api.showInFinder = async (target) => {
  world().opened.push({ how: "finder", target: String(target) });
  changed();
};

export const trash: typeof Api.trash = async (paths) => {
  for (const target of Array.isArray(paths) ? paths : [paths]) {
    world().opened.push({ how: "trash", target: String(target) });
  }
  changed();
};

export const openExtensionPreferences: typeof Api.openExtensionPreferences = async () => {
  world().opened.push({ how: "preferences", target: "extension" });
  changed();
};

export const openCommandPreferences: typeof Api.openCommandPreferences = async () => {
  world().opened.push({ how: "preferences", target: "command" });
  changed();
};

export const captureException: typeof Api.captureException = () => undefined;

export const LocalStorage: Pick<typeof Api.LocalStorage, "allItems" | "getItem" | "setItem" | "removeItem" | "clear"> =
  {
    async allItems<T extends Api.LocalStorage.Values>() {
      return Object.fromEntries(world().localStorage) as T;
    },
    async getItem<T extends Api.LocalStorage.Value>(key: string) {
      return world().localStorage.get(key) as T | undefined;
    },
    async setItem(key, value) {
      world().localStorage.set(key, value);
    },
    async removeItem(key) {
      world().localStorage.delete(key);
    },
    async clear() {
      world().localStorage.clear();
    },
  };

/** File-backed, so that two commands (or two copies of this double) see the same values. */
class CacheDouble {
  readonly #file: string;
  readonly #subscribers = new Set<Api.Cache.Subscriber>();

  constructor(options?: Api.Cache.Options) {
    const directory = path.join(world().environment.supportPath, "cache");
    mkdirSync(directory, { recursive: true });
    this.#file = path.join(directory, `${options?.namespace ?? "default"}.json`);
  }
  get = (key: string): string | undefined => this.#read()[key];
  has = (key: string): boolean => key in this.#read();
  get isEmpty(): boolean {
    return Object.keys(this.#read()).length === 0;
  }
  set = (key: string, data: string): void => {
    this.#write({ ...this.#read(), [key]: data });
    this.#notify(key, data);
  };
  remove = (key: string): boolean => {
    const { [key]: removed, ...rest } = this.#read();
    this.#write(rest);
    this.#notify(key, undefined);
    return removed !== undefined;
  };
  clear = (options?: { notifySubscribers: boolean }): void => {
    this.#write({});
    if (options?.notifySubscribers !== false) this.#notify(undefined, undefined);
  };
  subscribe = (subscriber: Api.Cache.Subscriber): Api.Cache.Subscription => {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  };
  #notify(key: string | undefined, data: string | undefined): void {
    for (const subscriber of this.#subscribers) subscriber(key, data);
  }
  #read(): Record<string, string> {
    try {
      return JSON.parse(readFileSync(this.#file, "utf8"));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return {};
      throw error;
    }
  }
  #write(values: Record<string, string>): void {
    writeFileSync(this.#file, JSON.stringify(values));
  }
}

// The declared class has private members that only the real one can have.
export const Cache = CacheDouble as unknown as typeof Api.Cache;
