/**
 * The operations as Lua: Redis runs a script alone, and its writes reach the append-only file together. RESP and
 * commands as of Redis 7.0. All keys of a run have one hash tag, so that a cluster keeps them on one node.
 *
 * A run's keys, after hone:{run}:
 * id identity of the store since its creation; if it differs, the store is not the one that was opened
 * c the run's clock: "server's milliseconds, run's milliseconds" at the last tick
 * kv, ku registers, and the expiry times of those set with setLease
 * r:<request> the reply to a request, for its retry after a lost connection
 * s:<stream> the Redis stream; entry n has the id n-0 and fields k(ey), p(ayload), r(eason)
 * m:<stream> last, samples, tokens: appended so far; trimmed, trimmedSamples, trimmedTokens: of these, trimmed
 * k:<stream> sorted set of keys by offset
 * z:<stream> offset to "samples tokens samplesSoFar tokensSoFar appendedAtMs"
 * p:<stream> checkpoint to cursor
 * g:<stream> group to its cursor
 * gs "stream group" of every group
 * l:<stream>:<group>, h:<stream>:<group> unfinished entries: expiry of their leases; "token deliveries", and the
 * fence under which they are leased, as "length:key:value"
 */

/**
 * The most milliseconds by which the run's clock advances between two scripts. Leases use this clock, because an
 * administrator may set the server's: an hour forward must not expire leases, nor an hour back prolong them. Waiting
 * readers run a script twice a second, so that the clock keeps pace with real time; without readers it stops. A jump
 * of the server's clock costs a lease at most this time: it lasts five seconds and is renewed three times in them, so
 * it does not expire.
 */
const MOST_MS = 2_000;
/** Between two ticks the clock is computed, not written. */
const TICK_MS = 250;

const PRELUDE = `
local P = string.sub(KEYS[1], 1, -3)
local function f(n) return string.format('%.0f', n) end
local function num(s) return tonumber(s or 0) or 0 end
local NOW
local function refuse(why, about, found, more) return {'!', why, about, found, more} end
local function register(key)
  local till = redis.call('HGET', P .. 'ku', key)
  if till and tonumber(till) <= NOW then
    redis.call('HDEL', P .. 'ku', key)
    redis.call('HDEL', P .. 'kv', key)
  end
  return redis.call('HGET', P .. 'kv', key)
end
local function setRegister(key, value, till)
  redis.call('HSET', P .. 'kv', key, value)
  if till then redis.call('HSET', P .. 'ku', key, till) else redis.call('HDEL', P .. 'ku', key) end
  redis.call('PUBLISH', P .. 'news', ':kv')
end
local function meta(stream, field) return num(redis.call('HGET', P .. 'm:' .. stream, field)) end
local function checkCursor(stream, cursor)
  local trimmed, last = meta(stream, 'trimmed'), meta(stream, 'last')
  if cursor < trimmed then return refuse('trimmed', stream, f(trimmed)) end
  if cursor > last then return refuse('ahead', stream, f(last)) end
end
local function append(stream, key, payload, samples, tokens, reason)
  local m = P .. 'm:' .. stream
  local n = f(redis.call('HINCRBY', m, 'last', 1))
  local s = redis.call('HINCRBY', m, 'samples', samples)
  local t = redis.call('HINCRBY', m, 'tokens', tokens)
  local fields = {'k', key, 'p', payload}
  if reason then fields[5] = 'r'; fields[6] = reason end
  redis.call('XADD', P .. 's:' .. stream, n .. '-0', unpack(fields))
  redis.call('ZADD', P .. 'k:' .. stream, n, key)
  redis.call('HSET', P .. 'z:' .. stream, n, samples .. ' ' .. tokens .. ' ' .. f(s) .. ' ' .. f(t) .. ' ' .. f(NOW))
  redis.call('PUBLISH', P .. 'news', stream)
  return n
end
local function sizes(stream, offset)
  local s, t, cs, ct, at = string.match(redis.call('HGET', P .. 'z:' .. stream, offset), '(%d+) (%d+) (%d+) (%d+) (%d+)')
  return num(s), num(t), num(cs), num(ct), num(at)
end
local function entry(stream, offset)
  return redis.call('XRANGE', P .. 's:' .. stream, offset .. '-0', offset .. '-0')[1]
end
local function leasesOf(stream, group) return P .. 'l:' .. stream .. ':' .. group, P .. 'h:' .. stream .. ':' .. group end
local function holder(stream, group, offset)
  local _, h = leasesOf(stream, group)
  local token, deliveries, fence = string.match(redis.call('HGET', h, offset) or '', '^(%S*) (%d+) ?(.*)$')
  return token, num(deliveries), fence
end
local function giveBack(stream, group, offset, deliveries)
  local l, h = leasesOf(stream, group)
  redis.call('ZADD', l, 0, offset)
  redis.call('HSET', h, offset, ' ' .. deliveries)
  redis.call('PUBLISH', P .. 'news', stream)
end
local function fenceOf(key, value) return #key .. ':' .. key .. ':' .. value end
local function finish(stream, group, offset)
  local l, h = leasesOf(stream, group)
  redis.call('ZREM', l, offset)
  redis.call('HDEL', h, offset)
end
local function bury(stream, group, offset, reason)
  local fields = entry(stream, offset)[2]
  local s, t = sizes(stream, offset)
  append(stream .. '/dead', group .. '/' .. offset .. '/' .. fields[2], fields[4], f(s), f(t), reason)
end
local function clock()
  local time = redis.call('TIME')
  local server = time[1] * 1000 + math.floor(time[2] / 1000)
  local was, now = string.match(redis.call('GET', P .. 'c') or '', '^(%d+) (%d+)$')
  local passed = server - (was or server)
  now = (now or server) + math.max(0, math.min(passed, ${MOST_MS}))
  if not was or passed < 0 or passed > ${TICK_MS} then redis.call('SET', P .. 'c', f(server) .. ' ' .. f(now)) end
  return now
end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return refuse('lost', ARGV[5]) end
NOW = clock()
local MEMO = P .. 'r:' .. ARGV[4]
local function remember(answer)
  redis.call('SET', MEMO, answer, 'PX', 300000)
  return {'=', answer}
end
local KNOWN = redis.call('GET', MEMO)
if ARGV[2] ~= '' and not KNOWN then
  local found = register(ARGV[2])
  if found ~= ARGV[3] then return refuse('fenced', ARGV[2], found) end
end
local A = {unpack(ARGV, 6)}
`;

/** Makes the store of a run, or finds it. KEYS: id. ARGV: a new id, whether it must exist. */
export const OPEN = `
local id = redis.call('GET', KEYS[1])
if id then return id end
if ARGV[2] == '1' then return false end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
`;

const HOLDS = `
local stream, group, offset = A[1], A[2], A[3]
local token, deliveries = holder(stream, group, offset)
local held = token == A[4]
`;

const BODIES = {
  append: `
local known = redis.call('ZSCORE', P .. 'k:' .. A[1], A[2])
return {'=', known and f(known) or append(A[1], A[2], A[3], A[4], A[5])}`,

  lease: `
local stream, group, token = A[1], A[2], A[3]
local max, leaseMs, maxDeliveries = num(A[4]), num(A[5]), num(A[6])
local l, h = leasesOf(stream, group)
local given = {}
if KNOWN then
  for offset, deliveries, again in string.gmatch(KNOWN, '(%d+) (%d+) (%d)') do
    given[#given + 1] = {offset, num(deliveries), num(again)}
  end
else
  local g = P .. 'g:' .. stream
  local cursor = redis.call('HGET', g, group)
  if not cursor then
    cursor = f(meta(stream, 'trimmed'))
    redis.call('HSET', g, group, cursor)
    redis.call('HSET', P .. 'gs', stream .. ' ' .. group, '')
  end
  local fence = ARGV[2] == '' and '' or ' ' .. fenceOf(ARGV[2], ARGV[3])
  local function take(offset, deliveries, again)
    redis.call('ZADD', l, NOW + leaseMs, offset)
    redis.call('HSET', h, offset, token .. ' ' .. deliveries .. fence)
    given[#given + 1] = {offset, deliveries, again}
  end
  local over = redis.call('ZRANGEBYSCORE', l, '-inf', NOW)
  table.sort(over, function(a, b) return tonumber(a) < tonumber(b) end)
  for _, offset in ipairs(over) do
    if #given == max then break end
    local _, deliveries = holder(stream, group, offset)
    if deliveries < maxDeliveries then
      take(offset, deliveries + 1, 1)
    else
      finish(stream, group, offset)
      bury(stream, group, offset, string.gsub(A[7], '#', deliveries))
    end
  end
  local at, last = num(cursor), meta(stream, 'last')
  while #given < max and at < last do
    at = at + 1
    take(f(at), 1, 0)
  end
  if at > num(cursor) then redis.call('HSET', g, group, f(at)) end
  if #given > 0 then
    local memo = {}
    for i, each in ipairs(given) do memo[i] = table.concat(each, ' ') end
    remember(table.concat(memo, ','))
  end
end
local entries = {}
for i, each in ipairs(given) do
  local found = entry(stream, each[1])
  if found then entries[#entries + 1] = {found, each[2], each[3]} end
end
local nearest = redis.call('ZRANGE', l, 0, 0, 'WITHSCORES')[2]
return {'=', entries, nearest and f(nearest - NOW) or nil}`,

  renew: `${HOLDS}
if held then redis.call('ZADD', (leasesOf(stream, group)), NOW + num(A[5]), offset) end
return {'=', held and 1 or 0}`,

  forward: `${HOLDS}
if KNOWN then return {'=', KNOWN} end
local known = redis.call('ZSCORE', P .. 'k:' .. A[5], A[6])
if not held and not known then return refuse('lease-lost', stream, offset) end
if held and A[10] == '' then finish(stream, group, offset) end
return remember(known and '' or append(A[5], A[6], A[7], A[8], A[9]))`,

  release: `${HOLDS}
if KNOWN then return {'=', KNOWN} end
if not held then return remember('0') end
if A[5] == 'retry' then
  giveBack(stream, group, offset, deliveries - 1)
else
  finish(stream, group, offset)
  if A[5] == 'dead' then bury(stream, group, offset, A[6]) end
end
return remember('1')`,

  free: `
if KNOWN then return {'=', KNOWN} end
local less, freed = num(A[2]), 0
local present = register(A[1])
local any, own = fenceOf(A[1], ''), present and fenceOf(A[1], present)
for _, name in ipairs(redis.call('HKEYS', P .. 'gs')) do
  local stream, group = string.match(name, '^(%S+) (%S+)$')
  for _, offset in ipairs(redis.call('ZRANGE', (leasesOf(stream, group)), 0, -1)) do
    local _, deliveries, fence = holder(stream, group, offset)
    if string.sub(fence, 1, #any) == any and fence ~= own then
      giveBack(stream, group, offset, deliveries - less)
      freed = freed + 1
    end
  end
end
return remember(f(freed))`,

  read: `
local after = num(A[2])
local bad = checkCursor(A[1], after)
if bad then return bad end
return {'=', redis.call('XRANGE', P .. 's:' .. A[1], f(after + 1) .. '-0', '+', 'COUNT', A[3])}`,

  pin: `
local p = P .. 'p:' .. A[1]
if A[3] == '' then
  redis.call('HDEL', p, A[2])
  return {'='}
end
local bad = checkCursor(A[1], num(A[3]))
if bad then return bad end
redis.call('HSET', p, A[2], A[3])
return {'='}`,

  trim: `
if KNOWN then return {'=', KNOWN} end
local stream, before = A[1], num(A[2])
local needed, by
local function need(who, offset)
  if not needed or offset < needed or (offset == needed and who < by) then needed, by = offset, who end
end
local pins = redis.call('HGETALL', P .. 'p:' .. stream)
for i = 1, #pins, 2 do need('checkpoint ' .. pins[i], num(pins[i + 1]) + 1) end
local groups = redis.call('HGETALL', P .. 'g:' .. stream)
for i = 1, #groups, 2 do
  need('group ' .. groups[i], num(groups[i + 1]) + 1)
  for _, offset in ipairs(redis.call('ZRANGE', (leasesOf(stream, groups[i])), 0, -1)) do need('group ' .. groups[i], num(offset)) end
end
if needed and before > needed then return refuse('held', stream, by, f(needed)) end
local trimmed, upto = meta(stream, 'trimmed'), math.min(before - 1, meta(stream, 'last'))
if upto <= trimmed then return remember('0') end
local _, _, samples, tokens = sizes(stream, f(upto))
redis.call('XTRIM', P .. 's:' .. stream, 'MINID', '=', f(upto + 1) .. '-0')
redis.call('ZREMRANGEBYSCORE', P .. 'k:' .. stream, '-inf', upto)
for offset = trimmed + 1, upto do redis.call('HDEL', P .. 'z:' .. stream, f(offset)) end
redis.call('HSET', P .. 'm:' .. stream, 'trimmed', f(upto), 'trimmedSamples', f(samples), 'trimmedTokens', f(tokens))
return remember(f(upto - trimmed))`,

  depth: `
local stream, group, after = A[1], A[2], A[3]
local trimmed, last = meta(stream, 'trimmed'), meta(stream, 'last')
local cursor = group ~= '' and redis.call('HGET', P .. 'g:' .. stream, group) or after
cursor = cursor == '' and trimmed or num(cursor)
local bad = checkCursor(stream, cursor)
if bad then return bad end
local samples, tokens = meta(stream, 'trimmedSamples'), meta(stream, 'trimmedTokens')
if cursor > trimmed then
  local _, _, s, t = sizes(stream, f(cursor))
  samples, tokens = s, t
end
local items = last - cursor
samples, tokens = meta(stream, 'samples') - samples, meta(stream, 'tokens') - tokens
local oldest = NOW
local function see(offset)
  local s, t, _, _, at = sizes(stream, offset)
  oldest = math.min(oldest, at)
  return s, t
end
if last > cursor then see(f(cursor + 1)) end
if group ~= '' then
  for _, offset in ipairs(redis.call('ZRANGE', (leasesOf(stream, group)), 0, -1)) do
    local s, t = see(offset)
    items, samples, tokens = items + 1, samples + s, tokens + t
  end
end
return {'=', f(items), f(samples), f(tokens), f(NOW - oldest), f(meta(stream .. '/dead', 'last'))}`,

  get: "return {'=', register(A[1])}",

  set: `
if not KNOWN then setRegister(A[1], A[2]) end
return remember('1')`,

  cas: `
if KNOWN then return {'=', KNOWN} end
local found = register(A[1])
if found ~= (A[3] == '1' and A[4]) then return remember('0') end
setRegister(A[1], A[2])
return remember('1')`,

  delete: `
if KNOWN then return {'=', KNOWN} end
local found = register(A[1])
if not found or (A[2] == '1' and found ~= A[3]) then return remember('0') end
redis.call('HDEL', P .. 'kv', A[1])
redis.call('HDEL', P .. 'ku', A[1])
return remember('1')`,

  list: `
local found = {'='}
for _, key in ipairs(redis.call('HKEYS', P .. 'kv')) do
  local value = string.sub(key, 1, #A[1]) == A[1] and register(key)
  if value then
    found[#found + 1] = key
    found[#found + 1] = value
  end
end
return found`,

  setLease: `
local found = register(A[1])
if found and found ~= A[2] then return {'=', '0'} end
setRegister(A[1], A[2], NOW + num(A[3]))
return {'=', '1'}`,
} as const;

export const SCRIPTS = Object.fromEntries(
  Object.entries(BODIES).map(([name, body]) => [name, `${PRELUDE}${body}`]),
) as { readonly [K in keyof typeof BODIES]: string };
