-- Posts answers that all differ, and counts what comes back by status; for bench/load.py.

local sent, threads = 0, {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(args)
  token = args[1]
  ok, busy, late, other, unsaid = 0, 0, 0, 0, 0
end

function request()
  sent = sent + 1
  local dose = 100 + (sent * 7 + number * 13) % 900
  local body = string.format(
    '{"question": "q%d-%d", "answer": "According to the chart, she takes metformin %d mg once daily. ' ..
    'Her eGFR is 58.", "tool_outputs": [{"tool_name": "load_chart", "text": "metformin %d mg once daily. ' ..
    'eGFR 58."}, {"tool_name": "label", "text": "The usual dose is 500 mg."}]}', number, sent, dose, dose)
  return wrk.format("POST", "/v1/verify_answer", {
    ["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json"}, body)
end

function response(status, headers, body)
  if status == 200 then
    ok = ok + 1
    return
  end
  if status == 429 then busy = busy + 1 elseif status == 503 then late = late + 1 else other = other + 1 end
  local told = false
  for name in pairs(headers) do
    if string.lower(name) == "retry-after" then told = true end
  end
  if not told then unsaid = unsaid + 1 end
end

function done(summary, latency, requests)
  local sums = {ok = 0, busy = 0, late = 0, other = 0, unsaid = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(sums) do sums[name] = sums[name] + thread:get(name) end
  end
  io.write(string.format(
    '\n{"ok": %d, "busy": %d, "late": %d, "other": %d, "without_retry_after": %d, "socket_errors": %d, ' ..
    '"seconds": %.1f, "p50_ms": %.0f, "p95_ms": %.0f, "p99_ms": %.0f, "slowest_ms": %.0f}\n',
    sums.ok, sums.busy, sums.late, sums.other, sums.unsaid,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(95) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3))
end
