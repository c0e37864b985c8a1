// The Vercel AI SDK in a tool loop: node ai_sdk.mjs FRONT BASE_URL KEY MODEL PROMPT
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [front, baseURL, apiKey, model, prompt] = process.argv.slice(2);
const chosen = {
  chat: () => createOpenAICompatible({ name: "gw", baseURL, apiKey })(model),
  messages: () => createAnthropic({ baseURL, apiKey })(model),
  responses: () => createOpenAI({ baseURL, apiKey }).responses(model),
}[front]();

const bash = tool({
  description: "Runs a command.",
  inputSchema: z.object({ command: z.string() }),
  execute: async ({ command }) => command.replace(/^echo /, ""),
});

let failure;
const result = streamText({
  model: chosen,
  prompt,
  tools: { bash },
  stopWhen: stepCountIs(8),
  onError: ({ error }) => {
    failure = error;
  },
});
let text = "";
for await (const part of result.textStream) text += part;
if (failure) {
  console.error(failure);
  process.exit(1);
}
console.log(text);
