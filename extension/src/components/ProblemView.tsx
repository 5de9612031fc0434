import { ActionPanel, Detail, Icon, List } from "@raycast/api";
import { type ReactElement, type ReactNode } from "react";
import { type RemedyHandlers } from "../lib/mend";
import { problemMarkdown } from "../lib/problem-markdown";
import { type Problem } from "../lib/problems";
import { RemedyAction } from "./RemedyAction";

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
