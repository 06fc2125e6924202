-- Hooks of burst_buffer/lua that do what the directives of a job say:
--   #BB_LUA HOOK fails|throws|sleeps|is-busy
-- Each call is a line of CALLS: the time, the job, the hook, and hurry for a teardown.

local CALLS = "/var/log/slurm/calls"
local SCRIPT = { job_process = 1, setup = 6, paths = 2 } -- the argument that is the path of the script

local function wish(path, hook)
	for line in io.lines(path or "/dev/null") do
		local what = line:match("^#BB_LUA " .. hook .. " ([%w-]+)$")
		if what then
			return what
		end
	end
end

local function note(job, hook, hurry)
	local calls = io.open(CALLS, "a")
	calls:write(os.time(), " ", job, " ", hook, hurry == nil and "" or " hurry=" .. tostring(hurry), "\n")
	calls:close()
end

local function act(hook, arguments)
	local path = arguments[SCRIPT[hook] or 2]
	if hook ~= "job_process" then
		note(arguments[1], hook, hook == "job_teardown" and arguments[3] or nil)
	end
	local what = wish(path, hook)
	if what == "fails" then
		return slurm.ERROR, "words of " .. hook
	elseif what == "throws" then
		error("a mistake in " .. hook)
	elseif what == "sleeps" then
		os.execute("sleep 100")
	elseif what == "is-busy" then
		return slurm.SUCCESS, "BUSY"
	end
	return slurm.SUCCESS
end

local HOOKS = { "job_process", "setup", "data_in", "test_data_in", "paths", "pre_run", "post_run", "data_out",
	"test_data_out", "job_teardown" }
for _, hook in ipairs(HOOKS) do
	_G["slurm_bb_" .. hook] = function(...)
		return act(hook, { ... })
	end
end

local function write_path(job, _, path)
	local file, why = io.open(path, "a")
	if not file then
		return slurm.ERROR, "the paths cannot be written: " .. why:match("[^:]*$")
	end
	file:close()
	return slurm.SUCCESS
end

function slurm_bb_paths(...)
	note((...), "paths")
	return write_path(...)
end

function slurm_bb_real_size()
	return slurm.SUCCESS
end

function slurm_bb_get_status()
	return slurm.SUCCESS
end

function slurm_bb_pools()
	return slurm.SUCCESS, '{"pools": [{"id": "flash", "granularity": 1048576, "quantity": 100, "free": 100}]}'
end
