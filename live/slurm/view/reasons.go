package view

import "strings"

// A meaning explains one of Slurm's reason codes: why a job waits, and what would end the wait.
type meaning struct{ Code, Why, Unblock string }

var unknown = meaning{"", "Oxgang does not know this reason code", "see \"JOB REASON CODES\" of man squeue"}

// meanings explain reason codes. A code that ends in * matches all codes with this prefix.
var meanings = []meaning{
	{"None", "Slurm has not looked at it yet", "the next scheduling round, within seconds"},
	{"Priority", "jobs of higher priority come first", "their start, a shorter time limit so that it can be backfilled, or a higher priority"},
	{"Resources", "it is next, but what it needs is not free", "the end of jobs that hold what it needs; or ask for fewer GPUs, any type, or a shorter time limit"},
	{"Dependency", "it waits for another job", "the end of that job as the dependency asks"},
	{"DependencyNeverSatisfied", "its dependency can never be met: the other job ended in another way", "cancel it, or remove the dependency: scontrol update JobId=... Dependency="},
	{"BeginTime", "its begin time has not come, or it was requeued within the last minutes", "the time, or scontrol update JobId=... StartTime=now"},
	{"JobHeldUser", "its user, or a requeue, holds it", "scontrol release, by its user"},
	{"JobHeldAdmin", "an administrator holds it", "scontrol release, by an administrator or operator"},
	{"JobLaunchFailure", "its start failed, and Slurm holds it", "look at the node's slurmd, then scontrol release"},
	{"JobHoldMaxRequeue", "it was requeued too often", "scontrol release, once the cause is gone"},
	{"JobArrayTaskLimit", "its array runs as many tasks as its own limit allows", "the end of a task, or scontrol update ArrayTaskThrottle"},
	{"Reservation", "its reservation has not begun, or is full", "the begin of the reservation"},
	{"ReservationDeleted", "its reservation is gone, and Slurm holds it", "scontrol update JobId=... Reservation= and release"},
	{"ReqNodeNotAvail", "nodes that it asks for are not usable or are reserved", "the return of the nodes, or ask for others"},
	{"NodeDown", "nodes that it needs are down", "the return of the nodes"},
	{"BadConstraints", "no node can ever satisfy its request", "ask for other features, types or fewer GPUs on a node"},
	{"PartitionDown", "its partition starts no jobs", "an administrator sets the partition up"},
	{"PartitionInactive", "its partition accepts and starts no jobs", "an administrator sets the partition up"},
	{"PartitionNodeLimit", "it asks for more nodes than its partition allows, or has", "ask for fewer nodes, or another partition"},
	{"PartitionTimeLimit", "its time limit is longer than its partition allows", "a shorter time limit, or another partition"},
	{"AccountNotAllowed", "its account may not use the partition", "another account or partition"},
	{"QOSNotAllowed", "its QOS may not use the partition or association", "another QOS"},
	{"AssociationJobLimit", "its association has reached its limit of running jobs", "the end of one of them"},
	{"AssociationResourceLimit", "its association has reached a resource limit", "the end of a job of the association"},
	{"AssociationTimeLimit", "its association has used up its time", "a new period, or more from an administrator"},
	{"InvalidAccount", "its account does not exist any more", "scontrol update JobId=... Account="},
	{"InvalidQOS", "its QOS does not exist any more", "scontrol update JobId=... QOS="},
	{"QOSGrpGRES", "its QOS has reached its GPU limit", "the end of a job of the QOS"},
	{"QOSMaxGRESPerUser", "its user holds as many GPUs as the QOS allows", "the end of one of the user's jobs in the QOS"},
	{"QOSMaxGRESPerAccount", "its account holds as many GPUs as the QOS allows", "the end of one of the account's jobs in the QOS"},
	{"QOSMaxGRESPerJob", "it asks for more GPUs than the QOS allows a job", "ask for fewer GPUs, or another QOS"},
	{"QOSMaxGRESPerNode", "it asks for more GPUs of a node than the QOS allows", "spread it over more nodes, or another QOS"},
	{"QOSMinGRES", "it asks for fewer GPUs than the QOS wants of a job", "ask for more GPUs, or another QOS"},
	{"QOSMaxJobsPerUserLimit", "its user runs as many jobs as the QOS allows", "the end of one of them"},
	{"QOSMaxWallDurationPerJobLimit", "its time limit is longer than the QOS allows", "a shorter time limit"},
	{"QOSUsageThreshold", "its fair share is too small for the QOS", "time without use, or another QOS"},
	{"QOSGrp*", "a limit of all jobs of its QOS together is reached", "the end of a job of the QOS"},
	{"QOSMax*", "a limit of its QOS for a user, an account or a job is reached", "the end of a job, or ask for less"},
	{"QOSMin*", "it asks for less than its QOS wants", "ask for more, or another QOS"},
	{"QOS*", "a limit of its QOS is reached", "the end of a job of the QOS, or ask for less"},
	{"AssocGrpGRES", "its account has reached its GPU limit", "the end of a job of the account"},
	{"AssocMaxGRESPerJob", "it asks for more GPUs than its association allows a job", "ask for fewer GPUs"},
	{"AssocGrp*", "a limit of all jobs of its account together is reached", "the end of a job of the account"},
	{"AssocMax*", "a limit of its association is reached", "the end of one of its jobs, or ask for less"},
	{"MaxGRESPerAccount", "its account has reached its GPU limit", "the end of a job of the account"},
	{"MaxCpuPerAccount", "its account has reached its CPU limit", "the end of a job of the account"},
	{"Licenses", "licenses that it asks for are in use", "the end of a job that holds them"},
	{"Cleaning", "its last run is being cleaned up", "seconds, or a look at the node's epilog"},
	{"Prolog", "its prolog runs", "seconds, or a look at the prolog"},
	{"SchedDefer", "it asked for a start at once, and Slurm defers", "submit it without --immediate"},
	{"SystemFailure", "Slurm had an internal failure", "an administrator, and slurmctld's log"},
	{"ConstraintsNotMet", "no usable node has the features that it asks for", "the return of nodes with them"},
	{"DeadLine", "it cannot end before its deadline", "a later deadline or a shorter time limit"},
	{"BurstBufferResources", "the burst buffer has no room", "room in the burst buffer"},
	{"BurstBufferStageIn", "its data are being staged in", "the end of that"},
	{"FrontEndDown", "no front end is up", "an administrator"},
	{"HetJobLimit", "another component of its heterogeneous job may not start", "what the other component waits for"},
	{"OutOfMemory", "its last run was out of memory", "more memory"},
	{"Reboot", "nodes are being rebooted for it", "minutes"},
}

func meaningOf(code string) meaning {
	code = bare(code)
	if code == "" {
		code = "None"
	}
	if strings.HasPrefix(code, "job_requeued_in_held_state") { // in scontrol's text
		code = "JobHeldUser"
	}
	for _, m := range meanings {
		if begin, many := strings.CutSuffix(m.Code, "*"); m.Code == code || many && strings.HasPrefix(code, begin) {
			return m
		}
	}
	return unknown
}
