-- The limits of keys and teams over all gateways, and who is there. One call changes the accounts of one client, whose
-- names share a hash tag. Times are microseconds of this server's clock. An account is three keys:
--   KEYS[1] a hash: rt, tt (GCRA: when requests and tokens are free again), w (first day of the budget's window),
--           sm, st (spent money and tokens), rm, rk (reserved), e (when it was loaded, ms), p (its period)
--   KEYS[2] a sorted set: requests in flight, by the end of their lease
--   KEYS[3] a hash: what each of them has reserved, "money tokens window"; "h" if it was taken as spent already
local MINUTE, IDLE_MS, MAX_HEALED, FORGET_MS = 60000000, 86400000, 10000, 60000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local verb = ARGV[1]

local function minus(value) return string.format('%d', -tonumber(value)) end

local function number(value) return tonumber(value or 0) or 0 end

-- Requests whose lease is over: their gateway is dead or cut off. The slot is free, what was reserved is spent.
local function heal(account, leases, reserved)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, 1000)) do
    redis.call('ZREM', leases, id)
    local value = redis.call('HGET', reserved, id)
    if value and value ~= 'h' then
      local money, tokens, window = value:match('(%S+) (%S+) (%S+)')
      redis.call('HINCRBY', account, 'rm', minus(money))
      redis.call('HINCRBY', account, 'rk', minus(tokens))
      if redis.call('HGET', account, 'w') == window then
        redis.call('HINCRBY', account, 'sm', money)
        redis.call('HINCRBY', account, 'st', tokens)
      end
      if redis.call('HLEN', reserved) < MAX_HEALED then redis.call('HSET', reserved, id, 'h')
      else redis.call('HDEL', reserved, id) end
    end
  end
end

local function hold(account, leases, reserved, id, lease, money, tokens, window)
  redis.call('ZADD', leases, now + lease, id)
  if window ~= '-' and redis.call('HSETNX', reserved, id, money .. ' ' .. tokens .. ' ' .. window) == 1 then
    redis.call('HINCRBY', account, 'rm', money)
    redis.call('HINCRBY', account, 'rk', tokens)
  end
end

local function keep_for_a_day(at)
  for n = at, at + 2 do redis.call('PEXPIRE', KEYS[n], IDLE_MS) end
end

-- begin id lease tokens prompt cost {rpm tpm concurrency budget token_budget window period}
-- → {code, account, wait, …}: 0 taken, 1 … 8 refused (see REFUSALS in script.py), 9 the account must be loaded first;
--   then for each account {requests, tokens: microseconds until free, spent money, spent tokens, window, loaded at}
local function begin()
  local id, lease = ARGV[2], tonumber(ARGV[3])
  local tokens, prompt, cost = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
  local found, code, which, wait = {}, 0, 0, 0
  local function refuse(account, why, microseconds)
    if code == 0 then code, which, wait = why, account, microseconds end
  end
  for n = 1, #KEYS / 3 do
    local key, at = KEYS[3 * n - 2], 6 + (n - 1) * 7
    local rpm, tpm, concurrency = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    local budget, token_budget = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
    local window, period = tonumber(ARGV[at + 6]), ARGV[at + 7]
    local has_budget = budget >= 0 or token_budget >= 0
    heal(key, KEYS[3 * n - 1], KEYS[3 * n])
    local row = redis.call('HMGET', key, 'rt', 'tt', 'w', 'sm', 'st', 'rm', 'rk', 'e', 'p')
    local each = {
      rt = math.max(number(row[1]), now), tt = math.max(number(row[2]), now), w = number(row[3]),
      sm = number(row[4]), st = number(row[5]), e = number(row[8]), budget = has_budget, rpm = rpm, tpm = tpm,
    }
    found[n] = each
    if has_budget then
      if not row[8] or row[9] ~= period then
        refuse(n, 9, 0)
      elseif window > each.w then -- windows only go forward, whatever the clocks of gateways say
        each.w, each.sm, each.st, each.rolled = window, 0, 0, true
      end
    end
    if concurrency > 0 and redis.call('ZCARD', KEYS[3 * n - 1]) >= concurrency then refuse(n, 1, 1000000) end
    if rpm > 0 then
      local late = each.rt + MINUTE / rpm - now - MINUTE
      if late > 0 then refuse(n, 2, late) end
    end
    if tpm > 0 then
      local late = each.tt + math.min(prompt * MINUTE / tpm, MINUTE) - now - MINUTE
      if late > 0 then refuse(n, 3, late) end
    end
    if budget >= 0 then
      if cost < 0 then refuse(n, 8, 0)
      elseif each.sm + cost > budget then refuse(n, 5, 0)
      elseif each.sm + number(row[6]) + cost > budget then refuse(n, 4, 1000000) end
    end
    if token_budget >= 0 then
      if each.st + tokens > token_budget then refuse(n, 7, 0)
      elseif each.st + number(row[7]) + tokens > token_budget then refuse(n, 6, 1000000) end
    end
  end
  if code == 0 then
    for n, each in ipairs(found) do
      local key = KEYS[3 * n - 2]
      if each.rpm > 0 then each.rt = each.rt + MINUTE / each.rpm end
      if each.tpm > 0 then each.tt = each.tt + prompt * MINUTE / each.tpm end
      redis.call('HSET', key, 'rt', string.format('%.0f', each.rt), 'tt', string.format('%.0f', each.tt))
      if each.rolled then redis.call('HSET', key, 'w', each.w, 'sm', 0, 'st', 0) end
      local window = each.budget and string.format('%d', each.w) or '-'
      hold(key, KEYS[3 * n - 1], KEYS[3 * n], id, lease, math.max(cost, 0), tokens, window)
      keep_for_a_day(3 * n - 2)
    end
  end
  local answer = {code, which, math.ceil(wait)}
  for _, each in ipairs(found) do
    for _, value in ipairs({each.rt - now, each.tt - now, each.sm, each.st, each.w, each.e}) do
      answer[#answer + 1] = math.floor(value)
    end
  end
  return answer
end

-- finish id prompt tokens cost unregistered ended {tpm loaded window}: what the request took replaces what it had
-- reserved. One that nobody knows is added if it was never registered (`unregistered`), or if the account was loaded
-- from the store since it began, and before it ended; once, however often this is said.
local function finish()
  local id, prompt, tokens, cost = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
  for n = 1, #KEYS / 3 do
    local key, reserved, at = KEYS[3 * n - 2], KEYS[3 * n], 7 + (n - 1) * 3
    local tpm, loaded, window = tonumber(ARGV[at + 1]), ARGV[at + 2], ARGV[at + 3]
    redis.call('ZREM', KEYS[3 * n - 1], id)
    local row = redis.call('HMGET', key, 'tt', 'w', 'e')
    if tpm > 0 and tokens ~= prompt then
      local free = math.max(number(row[1]), now) + (tokens - prompt) * MINUTE / tpm
      redis.call('HSET', key, 'tt', string.format('%.0f', free))
    end
    if window ~= '-' then
      local value, spend = redis.call('HGET', reserved, id), false
      if value and value ~= 'h' then
        local money, held = value:match('(%S+) (%S+)')
        redis.call('HDEL', reserved, id)
        redis.call('HINCRBY', key, 'rm', minus(money))
        redis.call('HINCRBY', key, 'rk', minus(held))
        spend = true
      elseif not value and row[3] and (cost > 0 or tokens > 0) then
        spend = row[3] == loaded and ARGV[6] == '1' or row[3] ~= loaded and tonumber(ARGV[7]) > number(row[3])
        if spend and redis.call('HLEN', reserved) < MAX_HEALED then redis.call('HSET', reserved, id, 'h') end
      end
      if spend and row[2] == window then
        redis.call('HINCRBY', key, 'sm', ARGV[5])
        redis.call('HINCRBY', key, 'st', ARGV[4])
      end
    end
  end
  return 0
end

-- keep lease {id money tokens window}: of one account, requests that are still in flight
local function keep()
  for at = 3, #ARGV, 4 do
    hold(KEYS[1], KEYS[2], KEYS[3], ARGV[at], tonumber(ARGV[2]), ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
  end
  keep_for_a_day(1)
  return 0
end

-- load period window money tokens read_at: what the store says was spent, if nobody has said it
local function load_account()
  local row = redis.call('HMGET', KEYS[1], 'e', 'p')
  if row[1] and row[2] == ARGV[2] then return 0 end
  redis.call('HSET', KEYS[1], 'p', ARGV[2], 'w', ARGV[3], 'sm', ARGV[4], 'st', ARGV[5], 'e', ARGV[6])
  redis.call('PEXPIRE', KEYS[1], IDLE_MS)
  return 1
end

-- debt requests tokens: how much further off the rates are, by what one gateway let through while it was alone.
-- KEYS[2] remembers that this gateway has said so.
local function debt()
  if not redis.call('SET', KEYS[2], 1, 'NX', 'PX', 5000) then return 0 end
  local row = redis.call('HMGET', KEYS[1], 'rt', 'tt')
  local requests = math.max(number(row[1]), now) + tonumber(ARGV[2])
  local tokens = math.max(number(row[2]), now) + tonumber(ARGV[3])
  redis.call('HSET', KEYS[1], 'rt', string.format('%.0f', requests), 'tt', string.format('%.0f', tokens))
  redis.call('PEXPIRE', KEYS[1], IDLE_MS)
  return 1
end

-- beat node description: this gateway is there → {now, node, "seen description", …}
local function beat()
  redis.call('HSET', KEYS[1], ARGV[2], string.format('%.0f ', now / 1000) .. ARGV[3])
  local all = redis.call('HGETALL', KEYS[1])
  local answer = {math.floor(now / 1000)}
  for n = 1, #all, 2 do
    if number(all[n + 1]:match('^%d+')) < now / 1000 - FORGET_MS then redis.call('HDEL', KEYS[1], all[n])
    else
      answer[#answer + 1] = all[n]
      answer[#answer + 1] = all[n + 1]
    end
  end
  return answer
end

local verbs = {begin = begin, finish = finish, keep = keep, load = load_account, debt = debt, beat = beat}
return verbs[verb]()
