import { ActionPanel, Detail, Icon, List } from "@raycast/api";
import { type ReactElement, type ReactNode } from "react";
import { plain } from "../lib/markdown";
import { type Problem } from "../lib/problems";
import { RemedyAction, type RemedyHandlers } from "./RemedyAction";

interface Props {
  problem: Problem;
  handlers?: RemedyHandlers;
  /** Further actions, after the one that mends it. */
  children?: ReactNode;
}

/** A problem that is all there is to show: what, why, and what to do, with the action that does it. */
export function ProblemView({ problem, handlers, children }: Props): ReactElement {
  return (
    <Detail
      markdown={problemMarkdown(problem)}
      actions={
        <ActionPanel>
          <RemedyAction problem={problem} {...(handlers === undefined ? {} : { handlers })} />
          {children}
        </ActionPanel>
      }
    />
  );
}

/** The same in a list that has nothing else. */
export function ProblemEmptyView({ problem, handlers, children }: Props): ReactElement {
  return (
    <List.EmptyView
      icon={Icon.ExclamationMark}
      title={problem.title}
      description={`${problem.cause} ${problem.remedy}`.trim()}
      actions={
        <ActionPanel>
          <RemedyAction problem={problem} {...(handlers === undefined ? {} : { handlers })} />
          {children}
        </ActionPanel>
      }
    />
  );
}

export function problemMarkdown({ title, cause, remedy }: Problem): string {
  return [`# ${plain(title)}`, plain(cause), ...(remedy === "" ? [] : [plain(remedy)])].join("\n\n");
}

/** One line of warning above other content. */
export function warningMarkdown({ title, cause, remedy }: Problem): string {
  return `> **Warning: ${plain(title)}.** ${plain(`${cause} ${remedy}`.trim())}`;
}
