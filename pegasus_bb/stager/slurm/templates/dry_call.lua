-- Comes after burst_buffer.lua: each function is called once, as Slurm calls it.
local info = { burst_buffer = "#BB_LUA persist use abc" }
local calls = {
	job_process = { "script", 1, 1, info },
	pools = {},
	setup = { 1, 1, 1, "pool", 0, "script", info },
	data_in = { 1, "script", 1, 1, info },
	test_data_in = { 1, "script", 1, 1, info },
	real_size = { 1, 1, 1, info },
	paths = { 1, "script", "/nonexistent/path", 1, 1, info },
	pre_run = { 1, "script", 1, 1, info },
	post_run = { 1, "script", 1, 1, info },
	data_out = { 1, "script", 1, 1, info },
	test_data_out = { 1, "script", 1, 1, info },
	job_teardown = { 1, "script", "false", 1, 1 },
	get_status = { 1, 1, "list" },
}
for name, words in pairs(calls) do
	local called = _G["slurm_bb_" .. name]
	if type(called) ~= "function" then
		error("there is no function slurm_bb_" .. name)
	end
	local code = called((unpack or table.unpack)(words, 1, 7))
	if code ~= slurm.SUCCESS and code ~= slurm.ERROR then
		error("slurm_bb_" .. name .. " returns " .. tostring(code))
	end
end
