-- Hooks of Slurm's burst_buffer/lua, for the staging service of pegasus_bb.
--
-- Slurm 24.05 or later calls these 13 functions; Lua 5.1 to 5.4; no module is needed.
-- Nothing here copies a byte or runs a program. A hook writes a note for the service
-- into the spool folder, or reads there what the service has written:
--
--   requests/TOKEN  notes of the hooks      jobs/ID  the state of a job
--   answers/TOKEN   answers for scontrol    pools    what slurm_bb_pools returns
--   doorbell        wakes the service       alive    the service's latest sign of life
--   bells/N.free    wakes one scontrol
--
-- job_process, pools and paths run inside slurmctld, so they read files only. setup and
-- data_in always succeed: a job that they fail is lost to its user. Waiting and failing
-- show in test_data_in and test_data_out.

local SPOOL = "/var/spool/pegasus-bb"
local DIRECTIVE = "#BB_LUA"
local OLD = 15 -- seconds after which a service that gives no sign of life is away
local BELLS = 64
local LONGEST = 4096 -- bytes of a place; Linux takes no longer path
local MOST_PERSIST = 100 -- lines of a job: the service makes each change durable
-- What is noted in the same second is read in this order.
local ORDER = { data_in = 1, pre_run = 2, data_out = 3, teardown = 4 }

-- Files -----------------------------------------------------------------------------

local function read(path)
	local file = io.open(path, "r")
	if not file then
		return nil
	end
	local text = file:read("*a")
	file:close()
	return text
end

local function write(path, text)
	local file, why = io.open(path .. ".new", "w")
	if not file then
		return nil, why
	end
	local written, why_not = file:write(text)
	local closed = file:close()
	if not (written and closed) then
		os.remove(path .. ".new")
		return nil, why_not or "it cannot be written"
	end
	return os.rename(path .. ".new", path)
end

local function is_away()
	local said = tonumber(read(SPOOL .. "/alive") or "")
	return not said or math.abs(os.time() - said) > OLD -- a clock may be set back
end

-- Notes for the service ----------------------------------------------------------------

-- Slurm gives some whole numbers as floats, which Lua 5.3 and later write as 12.0.
local function plain(value)
	if type(value) == "number" and value % 1 == 0 and math.abs(value) < 2 ^ 53 then
		return string.format("%d", value)
	end
	return (tostring(value):gsub("%c", " "))
end

local function ring()
	local bell = io.open(SPOOL .. "/doorbell", "r+")
	if bell then
		bell:write("\n")
		bell:close()
	end
end

-- Sends head, a list of {key, value}, and the directives of a job, if it has any.
local function send(token, head, directives)
	local lines = {}
	for _, pair in ipairs(head) do
		if pair[2] ~= nil then
			lines[#lines + 1] = pair[1] .. "=" .. plain(pair[2])
		end
	end
	local text = table.concat(lines, "\n") .. "\n\n" .. (directives or "")
	local sent, why = write(SPOOL .. "/requests/" .. token, text)
	if sent then
		ring()
	end
	return sent, why
end

-- Tells the service that Slurm has come to hook `what` of a job. The same note twice in
-- a second is one note: it says the same.
local function note(what, job, uid, gid, info, more)
	info = info or {}
	local head = { { "do", what }, { "job", job }, { "uid", uid }, { "gid", gid } }
	for _, key in ipairs({ "start_time", "sched_nodes", "nodes", "exit_code" }) do
		head[#head + 1] = { key, info[key] }
	end
	for _, pair in ipairs(more or {}) do
		head[#head + 1] = pair
	end
	local token = string.format("%010d.%d.%s.%s", os.time(), ORDER[what], plain(job), what)
	local sent, why = send(token, head, info.burst_buffer)
	if not sent then
		slurm.log_error("pegasus_bb: %s of job %s is not noted: %s", what, plain(job), tostring(why))
	end
	return sent and token
end

-- The state of a job counts only when the service has heard what was asked last.
local function ask_anew(job)
	write(SPOOL .. "/jobs/" .. plain(job) .. ".asked", "")
end

-- The state of a job, as the service has written it; nil if it knows none.
local function state_of(job)
	local text = read(SPOOL .. "/jobs/" .. plain(job))
	if not text then
		return nil
	end
	local found = { environ = {} }
	for key, value in text:gmatch("([%w_]+)=([^\n]*)\n") do
		if key == "env" then
			found.environ[#found.environ + 1] = value
		else
			found[key] = value
		end
	end
	return found
end

-- The state since the service has heard what was asked last; else nil. In this order:
-- a state that is read first may be that before the question.
local function heard_state_of(job)
	if read(SPOOL .. "/jobs/" .. plain(job) .. ".asked") then
		return nil
	end
	return state_of(job)
end

-- Directives ---------------------------------------------------------------------------

local FACTORS = { K = 1, M = 2, G = 3, T = 4, P = 5 }
-- A pool in the JSON text of slurm_bb_pools, as the service writes it.
local POOL = '"id": "([%w_-]+)", "granularity": (%d+), "quantity": (%d+)'

local function is_size(text)
	local number, unit = text:match("^(%d+)(%a*)$")
	if not number or #number > 18 or tonumber(number) == 0 then
		return false
	end
	local letter, rest = unit:match("^(%u)(%a*)$")
	return unit == "" or (FACTORS[letter] and (rest == "" or rest == "B" or rest == "iB"))
end

-- The bytes of a size as Slurm counts them: GiB and G are 2^30, GB is 10^9.
local function bytes(text)
	local number, letter, rest = text:match("^(%d+)(%a?)(%a*)$")
	return tonumber(number) * (rest == "B" and 1000 or 1024) ^ (FACTORS[letter] or 0)
end

local function is_name(text)
	return text:match("^%a%w+$") and #text >= 3 and #text <= 40
end

local function is_pool(text)
	return text:match("^%l[%l%d_-]*$") and #text <= 32
end

local function is_place(text)
	local path = text:match("^%l[%l%d_-]*://(.+)$") or text:match("^(/.+)$")
	if text:match("^bb://") and not text:match("^bb://%a%w+/.+$") then
		return false
	end
	return path and #text <= LONGEST and not ("/" .. path .. "/"):find("/../", 1, true)
end

-- The pairs of key=value words from word `first` on; nil for any other word.
local function options(words, first)
	local found = {}
	for number = first, #words do
		local key, value = words[number]:match("^(%l+)=(.+)$")
		if not key or found[key] then
			return nil
		end
		found[key] = value
	end
	return found
end

-- As people write it, in the largest unit that leaves a whole number.
local function in_units(size)
	for _, unit in ipairs({ "TiB", "GiB", "MiB", "KiB" }) do
		local one = 2 ^ (10 * FACTORS[unit:sub(1, 1)])
		if size % one == 0 then
			return string.format("%d %s", size / one, unit)
		end
	end
	return string.format("%d bytes", size)
end

-- Why `size` of a pool can never be had; nil if it can, or if that is not known.
local function never(size, name)
	local granule, quantity
	for id, unit, count in (read(SPOOL .. "/pools") or ""):gmatch(POOL) do
		if id == name then
			granule, quantity = tonumber(unit), tonumber(count)
		end
	end
	if granule and bytes(size) > granule * quantity then
		return string.format("pool %s has %s in all", name, in_units(granule * quantity))
	end
end

local function job_buffer(words)
	local given = options(words, 2)
	local known = given and #words == 3 and given.capacity and given.pool
	if not known or not is_size(given.capacity) or not is_pool(given.pool) then
		return "write: " .. DIRECTIVE .. " jobbb capacity=100GiB pool=NAME; a size is a"
			.. " whole number with a unit"
	end
	return never(given.capacity, given.pool)
end

local function copy(words, seen)
	if #words ~= 3 or not is_place(words[2]) or not is_place(words[3]) then
		return "write: " .. DIRECTIVE .. " " .. words[1] .. " SOURCE DEST, each as NAME://path or /path,"
			.. " without blanks and without '..', of 4096 bytes at most"
	end
	local here, there = words[2], words[3]
	if words[1] == "stage_out" then
		here, there = there, here
	end
	if here:match("^node://") or there:match("^node://[/.]*$") then
		return "node://PATH is the DEST of a stage_in or the SOURCE of a stage_out"
	end
	if words[2]:match("^job://") or words[3]:match("^job://") then
		seen.job = seen.job or seen.number
	end
end

local function store(words)
	local given = options(words, 4)
	local many = given and (given.pool and 5 or 4)
	local good = given and #words == many and given.size and is_size(given.size)
	if not good or not is_name(words[3]) or (given.pool and not is_pool(given.pool)) then
		return "write: " .. DIRECTIVE .. " persist store NAME size=100GiB [pool=NAME]; a size is a"
			.. " whole number with a unit, a name is 3 to 40 letters and digits"
	end
	return given.pool and never(given.size, given.pool)
end

local function persist(words, seen)
	local what = words[2]
	seen.persists = (seen.persists or 0) + 1
	if seen.persists > MOST_PERSIST then
		return string.format("a job has at most %d persist lines", MOST_PERSIST)
	end
	if what == "store" then
		return store(words)
	elseif what == "use" or what == "delete" then
		if #words == 3 and is_name(words[3]) then
			return nil
		end
		return "write: " .. DIRECTIVE .. " persist " .. what .. " NAME; a name is 3 to 40 letters and digits"
	elseif what == "share" or what == "unshare" then
		if #words == 4 and is_name(words[3]) and words[4]:match("^[%l_][%l%d_.-]*$") then
			return nil
		end
		return "write: " .. DIRECTIVE .. " persist " .. what .. " NAME USER"
	end
	return "write: " .. DIRECTIVE .. " persist store, use, delete, share or unshare"
end

local CHECKS = { jobbb = job_buffer, stage_in = copy, stage_out = copy, persist = persist }

-- Why a character of a line cannot stand there; nil if all can. A tab is a blank, except
-- where Slurm reads on to the next blank.
local function odd_character(line)
	local odd = line:gsub("\t", " "):match("%c")
	if odd == "\r" then
		return "it has a carriage return, as files of Windows do: dos2unix removes it"
	elseif odd then
		return string.format("it has the control character 0x%02x", odd:byte())
	elseif line:find("capacity=[^ ]*\t") or line:find("pool=[^ ]*\t") then
		return "it has a tab behind capacity= or pool=, where Slurm takes blanks only"
	end
end

-- The words up to a comment.
local function words_of(line)
	local words = {}
	for word in line:sub(#DIRECTIVE + 1):gmatch("%S+") do
		if word:sub(1, 1) == "#" then
			break
		end
		words[#words + 1] = word
	end
	return words
end

local function mistake(line, seen)
	local odd = odd_character(line)
	if odd then
		return odd
	end
	local words = words_of(line)
	local check = CHECKS[words[1] or ""]
	if not check then
		return "write: " .. DIRECTIVE .. " jobbb, stage_in, stage_out or persist"
	elseif words[1] == "jobbb" and seen.jobbb then
		return "a job has one jobbb line"
	elseif words[1] ~= "jobbb" and line:find("capacity=", 1, true) then
		return "Slurm would count 'capacity=' as a buffer of the job"
	end
	seen[words[1]] = true
	return check(words, seen)
end

-- The first mistake in the directives of a job, as a sentence; nil if there is none.
local function refusal(directives)
	local seen = { number = 0 } -- lines; verbs; job: the first line with a job://PATH
	for line in (directives .. "\n"):gmatch("([^\n]*)\n") do
		if line:sub(1, #DIRECTIVE) == DIRECTIVE then
			seen.number = seen.number + 1
			local what = mistake(line, seen)
			if what then
				local shown = plain(#line > 80 and line:sub(1, 80) .. " [...]" or line)
				return string.format("pegasus_bb: directive %d, %s: %s", seen.number, shown, what)
			end
		end
	end
	if seen.job and not seen.jobbb then
		return string.format("pegasus_bb: directive %d has job://: that needs a line %s jobbb"
			.. " capacity=100GiB pool=NAME", seen.job, DIRECTIVE)
	end
end

-- Hooks inside slurmctld ---------------------------------------------------------------

local NO_ARRAY = "pegasus_bb: a job array cannot use " .. DIRECTIVE
	.. ": Slurm gives its paths to one element only; submit single jobs"

local NO_HET = "pegasus_bb: a heterogeneous job cannot use " .. DIRECTIVE
	.. ": Slurm takes each of its components for a job of its own, which would be staged"
	.. " alone; submit single jobs"

-- Why a job cannot have directives; nil if it can. Slurm says of an array, and of a
-- heterogeneous job without a line `#SBATCH hetjob`, only after it was submitted.
local function unfit(info, script)
	if (tonumber(info and info.array_job_id) or 0) > 0 then
		return NO_ARRAY
	elseif (tonumber(info and info.het_job_id) or 0) > 0 then
		return NO_HET
	end
	local text = script and "\n" .. (read(script) or "") or ""
	if text:find("\n#SBATCH%s+hetjob") or text:find("\n#SBATCH%s+packjob") then
		return NO_HET
	end
end

function slurm_bb_job_process(job_script, uid, gid, job_info)
	local info = job_info or {}
	local why = unfit(info, job_script) or refusal(info.burst_buffer or "")
	if why then
		return slurm.ERROR, why
	end
	return slurm.SUCCESS
end

function slurm_bb_pools()
	local text = read(SPOOL .. "/pools")
	if not text then
		return slurm.SUCCESS
	end
	return slurm.SUCCESS, text
end

function slurm_bb_paths(job_id, job_script, path_file, uid, gid, job_info)
	local job = state_of(job_id)
	if not job then
		return slurm.ERROR, "pegasus_bb: the staging service does not know this job"
	end
	local file, why = io.open(path_file or "", "a")
	if not file then
		return slurm.ERROR, "pegasus_bb: the paths of the job cannot be written: " .. tostring(why)
	end
	for _, line in ipairs(job.environ) do
		file:write(line, "\n")
	end
	if not file:close() then
		return slurm.ERROR, "pegasus_bb: the paths of the job cannot be written"
	end
	return slurm.SUCCESS
end

-- Hooks in a process of their own ------------------------------------------------------

-- Whether the job is over, as one that scancel has ended. Slurm calls the hooks of its
-- stage-in further, also after its teardown: a note would begin it anew, and for ever.
local function has_ended(info)
	return (tonumber(info and info.job_state) or 0) % 256 > 2 -- pending, running, suspended
end

-- The sooner the service hears of a job, the sooner it has it staged in: test_data_in
-- comes two processes later, and BUSY there costs the job Slurm's PollInterval.
function slurm_bb_setup(job_id, uid, gid, pool, bb_size, job_script, job_info)
	if unfit(job_info) or has_ended(job_info) then
		return slurm.SUCCESS -- test_data_in says why nothing is made
	end
	ask_anew(job_id)
	note("data_in", job_id, uid, gid, job_info)
	return slurm.SUCCESS
end

function slurm_bb_data_in()
	return slurm.SUCCESS -- setup has said it
end

-- Whether Slurm has planned a job at another time than the service knows of. Without
-- sched_nodes it has planned nothing: start_time is then the time of the question.
local function is_planned_anew(job, info)
	local start = tonumber(info and info.start_time) or 0
	local is_planned = info and info.sched_nodes and info.sched_nodes ~= ""
	return is_planned and start > os.time() and plain(start) ~= job.start_time
end

function slurm_bb_test_data_in(job_id, job_script, uid, gid, job_info)
	local why = unfit(job_info)
	if why then
		return slurm.ERROR, why
	elseif has_ended(job_info) then
		return slurm.SUCCESS
	end
	local job = heard_state_of(job_id)
	if not job or job.state == "noted" or job.state == "gone" then
		note("data_in", job_id, uid, gid, job_info) -- the first note may be lost
	elseif job.state == "failed-in" then
		return slurm.ERROR, "pegasus_bb: " .. (job.message or "")
	elseif job.state ~= "staging-in" then
		return slurm.SUCCESS
	elseif is_planned_anew(job, job_info) then
		note("data_in", job_id, uid, gid, job_info)
	end
	return slurm.SUCCESS, "BUSY"
end

function slurm_bb_real_size(job_id, uid, gid, job_info)
	local job = state_of(job_id)
	if job and job.size then
		return slurm.SUCCESS, job.size
	end
	return slurm.SUCCESS
end

-- Has the folders of a job on its nodes filled, and waits for that. The service rings
-- when all is done, has failed, or has taken too long. Why not; nil if all is there.
local function stage_nodes(job, uid, gid, info)
	local bell, why = io.open(SPOOL .. "/jobs/" .. plain(job) .. ".bell", "r+")
	local token = bell and note("pre_run", job, uid, gid, info)
	if token then
		bell:read("*l")
	end
	if bell then
		bell:close()
	end
	local answer = token and read(SPOOL .. "/answers/" .. token)
	if not answer then
		return "the staging service gave no answer " .. (why or "")
	end
	os.remove(SPOOL .. "/answers/" .. token)
	return answer ~= "" and answer or nil
end

function slurm_bb_pre_run(job_id, job_script, uid, gid, job_info)
	local job = state_of(job_id)
	if not job or (job.state ~= "staged-in" and job.state ~= "running") then
		return slurm.ERROR, "pegasus_bb: the job's data is not staged in"
	end
	if job.nodes == "wait" then
		local why = stage_nodes(job_id, uid, gid, job_info)
		if why then
			return slurm.ERROR, "pegasus_bb: " .. why
		end
		return slurm.SUCCESS
	end
	-- A service that does not hear of it would remove the results of a job that is
	-- cancelled: it would take them for data of a job that has not begun.
	if not note("pre_run", job_id, uid, gid, job_info) then
		return slurm.ERROR, "pegasus_bb: the staging service cannot be told that the job starts"
	end
	return slurm.SUCCESS
end

-- Whether a job that has ended wants more than its teardown: a copy, or a change of a
-- persistent buffer. Where Slurm does not say what it wants, it may.
local function wants_more(info)
	local lines = info and info.burst_buffer
	return not lines or lines:find("stage_out", 1, true) or lines:find("persist", 1, true)
end

function slurm_bb_post_run()
	return slurm.SUCCESS -- data_out, which comes next, says all
end

function slurm_bb_data_out(job_id, job_script, uid, gid, job_info)
	if wants_more(job_info) then
		ask_anew(job_id)
		note("data_out", job_id, uid, gid, job_info)
	end
	return slurm.SUCCESS
end

function slurm_bb_test_data_out(job_id, job_script, uid, gid, job_info)
	if not wants_more(job_info) then
		-- BUSY costs the job Slurm's PollInterval. A service that never hears of its
		-- end would keep its space for ever.
		if note("data_out", job_id, uid, gid, job_info) then
			return slurm.SUCCESS
		end
		return slurm.SUCCESS, "BUSY"
	end
	local job = heard_state_of(job_id)
	if not job or job.state == "running" or job.state == "staged-in" then
		note("data_out", job_id, uid, gid, job_info) -- the first note may be lost
	elseif job.state == "failed-out" then
		return slurm.ERROR, "pegasus_bb: " .. (job.message or "")
	elseif job.state ~= "staging-out" then
		return slurm.SUCCESS
	end
	return slurm.SUCCESS, "BUSY"
end

function slurm_bb_job_teardown(job_id, job_script, hurry, uid, gid)
	if not note("teardown", job_id, uid, gid, nil, { { "hurry", hurry } }) then
		return slurm.ERROR, "pegasus_bb: the staging service cannot be told" -- Slurm tries again
	end
	return slurm.SUCCESS
end

-- scontrol show bbstat -----------------------------------------------------------------

local function failure(code, message)
	return string.format('{"v":1,"error":{"code":"%s","message":"%s"}}', code, message)
end

-- A bell of one's own: its number and path, or nil if all are taken.
local function take_bell()
	local first = os.time() % BELLS
	for step = 0, BELLS - 1 do
		local number = (first + step) % BELLS
		local path = string.format("%s/bells/%d", SPOOL, number)
		if os.rename(path .. ".free", path .. ".taken") then
			return number, path
		end
	end
end

local function ask(bell, path, uid, gid, words)
	local token = string.format("%010d.status.%d", os.time(), bell)
	local fifo = io.open(path .. ".taken", "r+")
	local head = { { "do", "status" }, { "uid", uid }, { "gid", gid }, { "bell", bell } }
	for _, word in ipairs(words) do
		head[#head + 1] = { "arg", word }
	end
	local sent = fifo and send(token, head)
	if sent then
		fifo:read("*l")
	end
	if fifo then
		fifo:close()
	end
	local answer = sent and read(SPOOL .. "/answers/" .. token)
	os.remove(SPOOL .. "/answers/" .. token)
	return answer
end

function slurm_bb_get_status(uid, gid, ...)
	if is_away() then
		return slurm.SUCCESS, failure("away", "the staging service does not run; its administrator can start it")
	end
	local bell, path = take_bell()
	if not bell then
		return slurm.SUCCESS, failure("busy", "the staging service has too many questions; ask again")
	end
	local answer = ask(bell, path, uid, gid, { ... })
	os.rename(path .. ".taken", path .. ".free")
	return slurm.SUCCESS, answer or failure("lost", "the staging service gave no answer; ask again")
end
