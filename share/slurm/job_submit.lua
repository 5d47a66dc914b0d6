-- SPDX-License-Identifier: Apache-2.0
--[[
Jobs wait under farthingd's hand: they are held (priority 0) and marked in their admin comment; farthingd releases each of them
onto the machine it has rented for it. Put this where slurm.conf is, with JobSubmitPlugins=lua.

Left alone are jobs that say so (--comment=farthing:off, or a comment that contains it) and jobs of partitions that are not
listed below (an empty list: all partitions are ours).

A user's own hold is kept apart from ours, by a word in the job's comment, which is the user's to change (the admin comment is not).
A release (also an operator's) does not start a job, it only takes back a hold: there is no machine for it yet.
--]]

local partitions = {}
local mark = "farthing"

local function ours(job_desc)
	if job_desc.comment ~= nil and string.find(job_desc.comment, mark .. ":off", 1, true) then
		return false
	end
	if next(partitions) == nil then
		return true
	end
	for _, name in ipairs(partitions) do
		if job_desc.partition == name then
			return true
		end
	end
	return false
end

local function is_marked(comment)
	return comment ~= nil and (comment == mark or string.sub(comment, 1, #mark + 1) == mark .. " ")
end

local held = mark .. ":held"

-- The comment without our word, and with it.
local function without(comment)
	local text = string.gsub(comment or "", "%s*" .. held, "")
	return text
end

local function with(comment)
	local text = without(comment)
	return text == "" and held or text .. " " .. held
end

function slurm_job_submit(job_desc, part_list, submit_uid)
	if not ours(job_desc) then
		return slurm.SUCCESS
	end
	if job_desc.priority == 0 then
		job_desc.comment = with(job_desc.comment)
	end
	job_desc.priority = 0
	job_desc.admin_comment = mark
	return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
	-- farthingd says what it does in the mark, which only operators can write; what an operator does is done.
	if not is_marked(job_rec.admin_comment) or job_desc.admin_comment ~= nil then
		return slurm.SUCCESS
	end
	local p = job_desc.priority
	if p == 0 and string.find(job_rec.admin_comment, " run=", 1, true) == nil then
		job_desc.comment = with(job_desc.comment or job_rec.comment)
	elseif p == slurm.INFINITE then
		job_desc.priority = 0
		job_desc.comment = without(job_desc.comment or job_rec.comment)
	elseif modify_uid ~= 0 and p ~= nil and p ~= slurm.NO_VAL and p ~= 0 then
		slurm.log_user("this job waits for farthingd: its priority is not for setting")
		return slurm.ERROR
	end
	return slurm.SUCCESS
end

return slurm.SUCCESS
