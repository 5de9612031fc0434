import path from "node:path";
import ts from "typescript";
import { expectGenerated, project } from "./generated";

const INDEX = path.join(project, "store/src/index.ts");

/** The declarations of the package, as the compiler would write them to `.d.ts` files, by file and name. */
function declarations(): Map<string, string> {
  const config = ts.readConfigFile(path.join(project, "store/tsconfig.json"), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, path.join(project, "store"));
  const program = ts.createProgram([INDEX], {
    ...options,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
  });
  const found = new Map<string, string>();
  program.emit(undefined, (fileName, text) => {
    const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.ES2023, true);
    for (const statement of source.statements) {
      const names = ts.isVariableStatement(statement)
        ? statement.declarationList.declarations.map((declaration) => declaration.name.getText(source))
        : "name" in statement && statement.name !== undefined
          ? [(statement.name as ts.Identifier).text]
          : [];
      const body = statement
        .getFullText(source)
        .trim()
        .replace(/^ *#private;\n/gm, "")
        .replace(/^( *)(export )?declare /gm, "$1")
        .replace(/^export /gm, "");
      for (const name of names) found.set(`${path.basename(fileName, ".d.ts")}:${name}`, body);
    }
  });
  return found;
}

/** The exports of the index, in its order, with the file that each comes from. */
function exported(): { name: string; file: string }[] {
  const source = ts.createSourceFile(INDEX, ts.sys.readFile(INDEX) ?? "", ts.ScriptTarget.ES2023, true);
  return source.statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) return [];
    const file = (statement.moduleSpecifier as ts.StringLiteral).text;
    const clause = statement.exportClause;
    if (clause === undefined || !ts.isNamedExports(clause)) return [];
    return clause.elements.map((element) => ({ name: (element.propertyName ?? element.name).getText(source), file }));
  });
}

test("docs/api.md is made from the docstrings of everything that the package exports", () => {
  const texts = declarations();
  const rooms = new Map<string, string[]>();
  for (const { name, file } of exported()) {
    // What a file passes on from another is found there by its name.
    const elsewhere = [...texts].find(([key]) => key.endsWith(`:${name}`))?.[1];
    const text = texts.get(`${path.basename(file)}:${name}`) ?? elsewhere;
    const place = file.split("/")[1] ?? "";
    const room = file.split("/").length > 2 ? place : "store";
    const part = `### \`${name}\`\n\n\`\`\`ts\n${text ?? name}\n\`\`\`\n`;
    rooms.set(room, [...(rooms.get(room) ?? []), part]);
  }
  const titles: Record<string, string> = {
    store: "Errors and time",
    format: "Records",
    log: "Logs",
    session: "Sessions",
    library: "Library, search, export",
    assets: "Assets and WAV",
    lock: "Locks",
    platform: "File system",
    realtime: "Realtime",
    "event-log": "Event logs",
  };
  const parts = [...rooms].map(([room, items]) => `## ${titles[room] ?? room}\n\n${items.join("\n")}`);
  expectGenerated(
    "api.md",
    `# API of \`@persyk/store\`

Everything that the package exports, with its docstrings; made from \`store/src/index.ts\`. [guide.md](guide.md) shows how
the parts are used together.

${parts.join("\n")}`,
  );
});
