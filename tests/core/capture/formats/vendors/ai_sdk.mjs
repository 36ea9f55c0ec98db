// Prints the records of ai_sdk.jsonl, built by the npm package `ai` itself:
// node vendors/ai_sdk.mjs, in a folder where `npm install ai` was run.
import { convertToModelMessages, readUIMessageStream, safeValidateUIMessages } from "ai";

const [question, answer, chart, labs, args] = process.argv.slice(2);
const chunks = [
  { type: "start", messageId: "m2" },
  { type: "start-step" },
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "The chart first." },
  { type: "reasoning-end", id: "r" },
  { type: "tool-input-available", toolCallId: "c1", toolName: "load_chart", input: JSON.parse(args) },
  { type: "tool-input-available", toolCallId: "c2", toolName: "load_labs", input: JSON.parse(args), dynamic: true },
  { type: "tool-output-available", toolCallId: "c1", output: JSON.parse(chart) },
  { type: "tool-output-error", toolCallId: "c2", errorText: labs, dynamic: true },
  { type: "finish-step" },
  { type: "start-step" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: answer },
  { type: "text-end", id: "t" },
  { type: "finish-step" },
  { type: "finish" },
];
const stream = new ReadableStream({
  start(controller) {
    chunks.forEach((chunk) => controller.enqueue(chunk));
    controller.close();
  },
});
let last;
for await (const message of readUIMessageStream({ stream })) last = message;
const asked = { id: "m1", role: "user", parts: [{ type: "text", text: question }] };
const ui = JSON.parse(JSON.stringify([asked, last]));
const checked = await safeValidateUIMessages({ messages: ui });
if (!checked.success) throw checked.error;
console.log(JSON.stringify({ id: "ui", messages: ui }));
console.log(JSON.stringify({ id: "model", messages: await convertToModelMessages(ui) }));
