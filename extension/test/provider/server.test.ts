import net from "node:net";
import { once } from "node:events";
import WebSocket from "ws";
import { startRealtimeServer } from "../../src/provider/server/realtime-server";
import { ScriptedEngine } from "../../src/provider/server/engines/scripted";

const engine = new ScriptedEngine({ turns: [] });

/** What the server answers to an upgrade of this address, whatever it is. */
async function upgradeOf(port: number, address: string): Promise<string> {
  const socket = net.connect(port, "127.0.0.1");
  const head = ["Host: x", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  socket.write(
    [`GET ${address} HTTP/1.1`, ...head, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""].join("\r\n"),
  );
  let answer = "";
  socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
  await once(socket, "close");
  return answer.split("\r\n")[0] ?? "";
}

test("an address that is none, another path and a missing key are refused, and the server goes on", async () => {
  const server = await startRealtimeServer({ engine, key: "sk-test-of-the-server" });
  expect(await upgradeOf(server.port, "//")).toMatch(/^HTTP\/1.1 400 /);
  expect(await upgradeOf(server.port, "http://[")).toMatch(/^HTTP\/1.1 400 /);
  expect(await upgradeOf(server.port, "/elsewhere")).toMatch(/^HTTP\/1.1 404 /);
  expect(await upgradeOf(server.port, "/v1/realtime?intent=transcription")).toMatch(/^HTTP\/1.1 401 /);
  const client = new WebSocket(`${server.url}?intent=transcription`, {
    headers: { Authorization: "Bearer sk-test-of-the-server" },
  });
  const [first]: unknown[] = await once(client, "message");
  expect(String(first)).toContain("session.created");
  client.terminate();
  await server.close();
});
