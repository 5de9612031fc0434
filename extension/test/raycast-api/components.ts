import {
  createContext,
  createElement,
  forwardRef,
  useContext,
  type FunctionComponent,
  type ReactElement,
  type ReactNode,
} from "react";
import type * as Api from "@raycast/api";

/**
 * The components of the API as host elements. Elements that Raycast takes as props (actions, detail, metadata, the
 * dropdown of the search bar) are rendered as children, so that they mount, update and can be found in the tree.
 */
const slots = ["actions", "detail", "metadata", "searchBarAccessory"] as const;

function host<Props extends object>(name: string): FunctionComponent<Props> {
  const component = (props: Props) => element(name, props);
  return Object.assign(component, { displayName: name });
}

function element(name: string, props: object): ReactElement {
  const { children, ...rest } = props as { children?: ReactNode } & Record<string, unknown>;
  const rendered: ReactNode[] = [];
  for (const slot of slots) {
    const value = rest[slot];
    if (value === undefined || value === null) continue;
    rendered.push(createElement(`rc-slot-${slot}`, { key: slot }, value as ReactNode));
    delete rest[slot];
  }
  return createElement(`rc-${name}`, { ...rest, given: props }, ...rendered, children);
}

const metadata = Object.assign(host<Api.Detail.Metadata.Props>("metadata"), {
  Label: host<Api.Detail.Metadata.Label.Props>("metadata-label"),
  Separator: host<Api.Detail.Metadata.Separator.Props>("metadata-separator"),
  Link: host<Api.Detail.Metadata.Link.Props>("metadata-link"),
  TagList: Object.assign(host<Api.Detail.Metadata.TagList.Props>("metadata-tag-list"), {
    Item: host<Api.Detail.Metadata.TagList.Item.Props>("metadata-tag"),
  }),
});

const dropdown = Object.assign(host<Api.List.Dropdown.Props>("dropdown"), {
  Item: host<Api.List.Dropdown.Item.Props>("dropdown-item"),
  Section: host<Api.List.Dropdown.Section.Props>("dropdown-section"),
});

type ListDouble = FunctionComponent<Api.List.Props> &
  Pick<typeof Api.List, "EmptyView" | "Section"> & {
    Item: typeof Api.List.Item;
    Dropdown: FunctionComponent<Api.List.Dropdown.Props>;
  };

export const List: ListDouble = Object.assign(host<Api.List.Props>("list"), {
  EmptyView: host<Api.List.EmptyView.Props>("empty-view"),
  Section: host<Api.List.Section.Props>("list-section"),
  Dropdown: dropdown,
  Item: Object.assign(host<Api.List.Item.Props>("list-item"), {
    Detail: Object.assign(host<Api.List.Item.Detail.Props>("list-item-detail"), { Metadata: metadata }),
  }),
});

export const Detail: typeof Api.Detail = Object.assign(host<Api.Detail.Props>("detail"), { Metadata: metadata });

export const ActionPanel: FunctionComponent<Api.ActionPanel.Props> & {
  Section: typeof Api.ActionPanel.Section;
  Submenu: typeof Api.ActionPanel.Submenu;
} = Object.assign(host<Api.ActionPanel.Props>("action-panel"), {
  Section: host<Api.ActionPanel.Section.Props>("action-section"),
  Submenu: host<Api.ActionPanel.Submenu.Props>("action-submenu"),
});

const SubmitForm: typeof Api.Action.SubmitForm = Object.assign(
  <T extends Api.Form.Values>(props: Api.Action.SubmitForm.Props<T>) => element("action-submit", props),
  { displayName: "SubmitForm" },
);

type Used =
  | "CopyToClipboard"
  | "Open"
  | "OpenInBrowser"
  | "OpenWith"
  | "Paste"
  | "Push"
  | "ShowInFinder"
  | "SubmitForm"
  | "Trash"
  | "ToggleQuickLook"
  | "Style";

export const Action: FunctionComponent<Api.Action.Props> & Pick<typeof Api.Action, Used> = Object.assign(
  host<Api.Action.Props>("action"),
  {
    Style: { Regular: "regular", Destructive: "destructive" } as typeof Api.Action.Style,
    CopyToClipboard: host<Api.Action.CopyToClipboard.Props>("action-copy"),
    Open: host<Api.Action.Open.Props>("action-open"),
    OpenInBrowser: host<Api.Action.OpenInBrowser.Props>("action-open-browser"),
    OpenWith: host<Api.Action.OpenWith.Props>("action-open-with"),
    Paste: host<Api.Action.Paste.Props>("action-paste"),
    Push: host<Api.Action.Push.Props>("action-push"),
    ShowInFinder: host<Api.Action.ShowInFinder.Props>("action-finder"),
    Trash: host<Api.Action.Trash.Props>("action-trash"),
    ToggleQuickLook: host<Api.Action.ToggleQuickLook.Props>("action-quick-look"),
    SubmitForm,
  },
);

function field<Props extends object, Ref>(name: string) {
  return forwardRef<Ref, Props>((props, _ref) => element(name, props));
}

type UsedFields = "TextField" | "TextArea" | "Checkbox" | "FilePicker" | "Description" | "Separator";

export const Form: FunctionComponent<Api.Form.Props> &
  Pick<typeof Api.Form, UsedFields> & { Dropdown: FunctionComponent<Api.Form.Dropdown.Props> } = Object.assign(
  host<Api.Form.Props>("form"),
  {
    TextField: field<Api.Form.TextField.Props, Api.Form.TextField>("field-text"),
    TextArea: field<Api.Form.TextArea.Props, Api.Form.TextArea>("field-area"),
    Checkbox: field<Api.Form.Checkbox.Props, Api.Form.Checkbox>("field-checkbox"),
    FilePicker: field<Api.Form.FilePicker.Props, Api.Form.FilePicker>("field-file"),
    Description: host<Api.Form.Description.Props>("form-description"),
    Separator: host<Api.Form.Separator.Props>("form-separator"),
    Dropdown: Object.assign(host<Api.Form.Dropdown.Props>("field-dropdown"), {
      Item: host<Api.Form.Dropdown.Item.Props>("dropdown-item"),
      Section: host<Api.Form.Dropdown.Section.Props>("dropdown-section"),
    }),
  },
);

export const MenuBarExtra: typeof Api.MenuBarExtra = Object.assign(host<Api.MenuBarExtra.Props>("menu-bar"), {
  Item: host<Api.MenuBarExtra.Item.Props>("menu-item"),
  Separator: host<object>("menu-separator"),
  Section: host<Api.MenuBarExtra.Section.Props>("menu-section"),
  Submenu: host<Api.MenuBarExtra.Submenu.Props>("menu-submenu"),
});

/** The stack of views; the driver provides it. */
export const NavigationContext = createContext<Api.Navigation | null>(null);

export const useNavigation: typeof Api.useNavigation = () => {
  const navigation = useContext(NavigationContext);
  if (navigation === null) throw new Error("useNavigation is used outside a mounted command.");
  return navigation;
};

/** Icons and colours are names; that a name exists is checked by the types. */
export const Icon = new Proxy({} as typeof Api.Icon, { get: (_target, key) => `icon-${String(key)}` });

export const Color = {
  Blue: "raycast-blue",
  Green: "raycast-green",
  Magenta: "raycast-magenta",
  Orange: "raycast-orange",
  Purple: "raycast-purple",
  Red: "raycast-red",
  Yellow: "raycast-yellow",
  PrimaryText: "raycast-primary-text",
  SecondaryText: "raycast-secondary-text",
} as typeof Api.Color;

export const Image = { Mask: { Circle: "circle", RoundedRectangle: "roundedRectangle" } as typeof Api.Image.Mask };

export const AlertActionStyle = {
  Default: "default",
  Cancel: "cancel",
  Destructive: "destructive",
} as typeof Api.Alert.ActionStyle;
export const Alert: Pick<typeof Api.Alert, "ActionStyle"> = { ActionStyle: AlertActionStyle };

/** Shortcuts by name: what matters to a test is that the common one was used. */
const common = (key: Api.Keyboard.KeyEquivalent, ...modifiers: Api.Keyboard.KeyModifier[]) => ({ modifiers, key });
export const Keyboard: { Shortcut: { Common: typeof Api.Keyboard.Shortcut.Common } } = {
  Shortcut: {
    Common: {
      Copy: common("c", "cmd", "shift"),
      CopyDeeplink: common("c", "cmd", "opt"),
      CopyName: common(".", "cmd", "shift"),
      CopyPath: common(",", "cmd", "shift"),
      Save: common("s", "cmd"),
      Duplicate: common("d", "cmd"),
      Edit: common("e", "cmd"),
      MoveDown: common("arrowDown", "cmd", "shift"),
      MoveUp: common("arrowUp", "cmd", "shift"),
      New: common("n", "cmd"),
      Open: common("o", "cmd"),
      OpenWith: common("o", "cmd", "shift"),
      Pin: common("p", "cmd", "shift"),
      Refresh: common("r", "cmd"),
      Remove: common("x", "ctrl"),
      RemoveAll: common("x", "ctrl", "shift"),
      ToggleQuickLook: common("y", "cmd"),
    },
  },
};
